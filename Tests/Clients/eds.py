"""Reads and writes a CardDAV book with evolution-data-server, on a bus of its own.

usage: dbus-run-session -- python3 eds.py FOLDER URL USER PASSWORD COUNT...

Prints the names of the contacts as one line of JSON once the book has COUNT of them. Before each COUNT after the first, it waits for
the file FOLDER/go-N, makes the changes in it, and then asks for a refresh. A line of that file is "add NAME", "number NAME NUMBER",
which adds a number, or "delete NAME"; a name is one word.
"""
import json
import os
import signal
import sys
import threading
import time
import urllib.parse

folder, url, user, password = sys.argv[1:5]
counts = [int(each) for each in sys.argv[5:]]
for name, below in [("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data"), ("XDG_CACHE_HOME", "cache"), ("XDG_RUNTIME_DIR", "run")]:
    os.environ[name] = f"{folder}/{below}"
    os.makedirs(os.environ[name], 0o700, exist_ok=True)
os.environ.update(HOME=folder, GIO_USE_VFS="local", GSETTINGS_BACKEND="memory", NO_AT_BRIDGE="1")
# The services that the bus starts get these, too.
os.system("dbus-update-activation-environment --all")
place = urllib.parse.urlsplit(url)
sources = os.environ["XDG_CONFIG_HOME"] + "/evolution/sources"
os.makedirs(sources, exist_ok=True)
with open(sources + "/test-dav.source", "w", encoding="utf-8") as file:
    file.write(f"""[Data Source]
DisplayName=Test
Enabled=true
Parent=

[Authentication]
Host={place.hostname}
Method=plain/password
Port={place.port}
ProxyUid=system-proxy
RememberPassword=false
User={user}

[Security]
Method=none

[WebDAV Backend]
ResourcePath={place.path}
AvoidIfmatch=false
SslTrust=

[Address Book]
BackendName=carddav

[Offline]
StaySynchronized=true

[Refresh]
Enabled=true
IntervalMinutes=60
""")

import gi  # noqa: E402

for name in ["EBook", "EDataServer", "EBookContacts"]:
    gi.require_version(name, "1.2")
from gi.repository import EBook, EBookContacts, EDataServer, Gio, GLib  # noqa: E402


def answer(registry, source, reason, certificate, errors, error):
    """Gives the password that evolution-data-server asks for."""
    credentials = EDataServer.NamedParameters.new()
    credentials.set(EDataServer.SOURCE_CREDENTIAL_USERNAME, user)
    credentials.set(EDataServer.SOURCE_CREDENTIAL_PASSWORD, password)
    threading.Timer(0.1, lambda: source.invoke_authenticate_sync(credentials, None)).start()


def wait(what, is_reached):
    deadline = time.monotonic() + 150
    while not is_reached():
        if time.monotonic() > deadline:
            sys.exit(f"{what} did not come")
        time.sleep(0.05)


registry = EDataServer.SourceRegistry.new_sync(None)
registry.connect("credentials-required", answer)
threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
client = EBook.BookClient.connect_sync(registry.ref_source("test-dav"), 30, None)
everyone = EBookContacts.BookQuery.any_field_contains("").to_string()


def contacts():
    return client.get_contacts_sync(everyone, None)[1]


def named(name):
    return next(each for each in contacts() if each.get_property("full-name").startswith(name))


def change(line):
    what, name, *more = line.split()
    if what == "add":
        contact = EBookContacts.Contact.new_from_vcard(f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:{name}\r\nN:;{name};;;\r\nEND:VCARD")
        client.add_contact_sync(contact, EBookContacts.BookOperationFlags.NONE, None)
    elif what == "number":
        contact = named(name)
        contact.set_property("mobile-phone", more[0])
        client.modify_contact_sync(contact, EBookContacts.BookOperationFlags.NONE, None)
    else:
        client.remove_contact_sync(named(name), EBookContacts.BookOperationFlags.NONE, None)


for number, count in enumerate(counts):
    if number > 0:
        wait(f"go-{number}", lambda: os.path.exists(f"{folder}/go-{number}"))
        with open(f"{folder}/go-{number}", encoding="utf-8") as file:
            for line in file:
                change(line)
        client.refresh_sync(None)
    wait(f"{count} contacts", lambda: len(contacts()) == count)
    print(json.dumps({"names": sorted(each.get_property("full-name") for each in contacts()), "readonly": client.is_readonly()}), flush=True)

# The services do not end with the bus that started them.
bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)


def ask_bus(method, arguments, kind):
    place = "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"
    return bus.call_sync(*place, method, arguments, GLib.VariantType(kind), 0, -1, None).unpack()[0]


for name in ask_bus("ListNames", None, "(as)"):
    if name.startswith("org.gnome.evolution."):
        os.kill(ask_bus("GetConnectionUnixProcessID", GLib.Variant("(s)", (name,)), "(u)"), signal.SIGKILL)
