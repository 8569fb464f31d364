"""a real flatpak app, and programs that imitate it"""

import os
import subprocess

from fixture.accounts import as_user, run as run_as, start
from fixture.broker import CALLER, MARKER, REQUEST_ACCESS, fresh, secrets, taken_for
from fixture.person import Agent
from fixture.varlink import ADMIN, AGENT, APPS, admin, attempt
from fixture.verdict import must, run, tries

APP, PLATFORM = "org.example.Flat", "org.example.Platform"
WORK = "/home/alice/flatpak"
# Builds the flatpak from the container's files, without network. The app is the program caller.
BUILD = f"""
set -eu
mkdir -p {WORK} && cd {WORK}
mkdir -p runtime/files runtime/usr/bin runtime/usr/lib runtime/usr/lib64 runtime/usr/etc app/files/bin app/export
for each in /bin/bash /bin/cat /bin/true; do cp $each runtime/usr/bin/; done
ln -sf bash runtime/usr/bin/sh
for each in /bin/bash /bin/cat /srv/test/caller; do
    ldd $each | grep -o '/[^ ]*' | while read library; do
        mkdir -p runtime/usr/lib64 runtime/usr/lib/x86_64-linux-gnu
        cp -L $library runtime/usr/lib/x86_64-linux-gnu/
        cp -L $library runtime/usr/lib64/
    done
done
arch=$(flatpak --default-arch)
printf '[Runtime]\\nname={PLATFORM}\\nruntime={PLATFORM}/%s/1\\nsdk={PLATFORM}/%s/1\\n' $arch $arch >runtime/metadata
printf '[Application]\\nname={APP}\\nruntime={PLATFORM}/%s/1\\nsdk={PLATFORM}/%s/1\\ncommand=caller\\n[Context]\\nfilesystems=/run/contactbroker\\n' $arch $arch >app/metadata
cp /srv/test/caller app/files/bin/caller
flatpak build-export --runtime --arch=$arch --no-update-summary repo runtime 1
flatpak build-export --arch=$arch repo app 1
flatpak --user remote-add --no-gpg-verify local repo
flatpak --user install -y --noninteractive --no-related local {PLATFORM}//1 {APP}//1
"""
FETCH = '{"method":"io.contactbroker.Contacts.FetchContacts","parameters":{"keys":["givenName","familyName"]}}'
COUNT = '{"method":"io.contactbroker.Contacts.CountContacts"}'


def flatpak(*arguments):
    return ["flatpak", "run", "--user", "--command=caller", APP, *arguments]


@tries("(builds and installs the flatpak offline)", "it runs")
def build():
    status, said = run_as("alice", ["bash", "-c", BUILD], timeout=60)
    must(status == 0, said[-600:])
    status, said = run_as("alice", ["flatpak", "run", "--user", "--command=cat", APP, "/.flatpak-info"], timeout=20)
    must(f"name={APP}" in said, said[-300:])
    return "it runs in flatpak's sandbox"


@tries("requests access", f"identified as sandboxed: {APP}")
def known():
    strength, app = taken_for("alice", flatpak(APPS, REQUEST_ACCESS))
    must((strength, app) == ("sandboxed", APP), f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("calls the agent's and the administrator's socket, which it got by mistake", "refused at both")
def doors():
    _, agent = run_as("alice", flatpak(AGENT, '{"method":"io.contactbroker.Agent.ListGrants"}'), timeout=20)
    _, admin = run_as("alice", flatpak(ADMIN, '{"method":"io.contactbroker.Admin.ListGrants"}'), timeout=20)
    must("Permission denied" in agent or agent.strip() == "closed", agent)
    must("NotAuthorized" in admin or admin.strip() == "closed", admin)
    return f"agent: {agent.strip()[-40:]}; administrator: {admin.strip()[-40:]}"


@tries("fetches and counts after the person shared one contact", "that one contact, of a book of twenty-one")
def one_contact():
    fresh()
    button = '{"method":"io.contactbroker.Contacts.RequestContacts","parameters":{"query":"saga"}}'
    with Agent("alice") as person:
        process = start("alice", flatpak(APPS, button, FETCH, COUNT), stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        person.wait("looks for")
        must("a sandboxed app" in person.text and APP in person.text, " ".join(person.text.split()))
        person.approve("s")
        person.wait("Only this contact")
        person.approve("y")
        person.give_password("alice", "You shared")
        said = process.communicate(timeout=30)[0].decode()
    must("Lindqvist" in said and MARKER not in said and "Okafor" not in said and '"count":1' in said, said)
    return "one contact; it counts 1"


@tries("has a program outside widen its grant at the administrator's socket", "NotAuthorized without a password")
def widened():
    got = as_user("alice", lambda: attempt(admin, "SetGrant", app=APP, strength="sandboxed", status="full"))
    must(got[0] in ("NotAuthorized", "InteractiveAuthenticationRequired", "InvalidValue"), str(got))
    levels = [each["status"] for each in admin("ListGrants", uid=1000)["grants"] if each["app"] == APP]
    must(levels == ["limited"], str(levels))
    return f"{got[0]}; it stays limited"


@tries("is imitated by a program outside the sandbox, in a scope with its name", "no use of its grant")
def outside():
    command = ["systemd-run", "--user", "--scope", "--quiet", "--collect", f"--unit=app-flatpak-{APP}-815.scope", "--",
               CALLER, APPS, FETCH]
    fresh()
    # Nobody answers, and the call would wait two minutes for an agent.
    _, said = run_as("alice", command, timeout=8)
    must(not secrets(said), said)
    return said.strip()[:100]


@tries("is installed by bob too, under the same name", "bob's app has no use of alice's grant")
def bobs():
    def copy():
        os.makedirs("/home/bob/flatpak", exist_ok=True)
        return True

    as_user("bob", copy)
    status, said = run_as("bob", ["bash", "-c", BUILD.replace("/home/alice", "/home/bob")], timeout=60)
    must(status == 0, said[-400:])
    fresh()
    _, said = run_as("bob", flatpak(APPS, FETCH), timeout=8)
    must(not secrets(said), said)
    return said.strip()[:100]


run()
