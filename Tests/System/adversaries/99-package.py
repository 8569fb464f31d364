"""whoever installs, upgrades, removes and purges the package

It takes the place of what make install has put there, so that it comes last of all.
"""

import glob
import os
import stat

from house.broker import CALLER, REQUEST_ACCESS, SERVICE, STATE, Asking, command, pid, wait_for
from house.person import Agent
from house.varlink import APPS, admin, attempt
from house.verdict import NotBuilt, must, run, tries

PACKAGE = "/srv/test/contactbroker.deb"
AGENT = "/usr/bin/contact-agent"
SETTINGS = "/etc/contactbroker/contactbroker.toml"
BOOK = STATE + "/users/*/contacts.sqlite"
SOCKETS = ["contactbroker-apps.socket", "contactbroker-agent.socket", "contactbroker-admin.socket"]


def install():
    if not os.path.exists(PACKAGE):
        raise NotBuilt(PACKAGE)
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    status, said = command("dpkg", "--install", "--force-confold", PACKAGE, timeout=60)
    must(status == 0, said[-400:])


def answers():
    return attempt(admin, "GetStatus")[0] is None


@tries("installs it over what is there", "the agent has its group, and an app's call starts the broker")
def installs():
    command("systemctl", "stop", SERVICE, *SOCKETS)
    install()
    status = os.stat(AGENT)
    must(stat.S_IMODE(status.st_mode) == 0o2755, f"the agent's mode is {status.st_mode:o}")
    _, group = command("stat", "--format=%G", AGENT)
    must(group == "contact-agent", f"the agent's group is {group}")
    for each in SOCKETS:
        _, state = command("systemctl", "is-active", each)
        must(state == "active", f"{each} is {state}")
    must(not pid(), "the broker was started before anybody asked")
    wait_for(answers, "the broker answers root")
    return "2755 root:contact-agent; the sockets listen; started by the first call"


@tries("installs it again, as an upgrade", "another process serves; books and settings are as they were")
def upgrades():
    before, books, settings = pid(), sorted(glob.glob(BOOK)), open(SETTINGS).read()
    must(books, "there is no book to lose")
    install()
    wait_for(answers, "the broker answers root")
    must(pid() != before, "the former program serves on")
    must(sorted(glob.glob(BOOK)) == books, "books are gone")
    must(open(SETTINGS).read() == settings, "settings were replaced")
    return f"{len(books)} books, the administrator's settings, and a new process"


@tries("upgrades it under an agent that waits", "the agent starts from the new file and is asked")
def upgrades_under_an_agent():
    with Agent("alice") as person:
        # A file of its own, as another version has: dpkg keeps the old one from being started.
        before = os.stat(AGENT).st_ino
        install()
        must(os.stat(AGENT).st_ino != before, "the agent's file is the old one")
        if person.wait("Waiting for apps", "Password:", "could not start anew", timeout=40) == "Password:":
            person.type_password("password of alice")
        must("could not start anew" not in person.text, person.text[-300:])
        wait_for(answers, "the broker answers root")
        with Asking("alice", [CALLER, APPS, REQUEST_ACCESS]):
            person.wait("asks to see your contacts", timeout=40)
    return "it was asked by an app after the upgrade"


@tries("looks at what the package needs", "polkit and logind, without which no agent starts")
def depends():
    _, needs = command("dpkg-deb", "--field", PACKAGE, "Depends")
    must("polkitd" in needs and "logind" in needs, f"Depends: {needs}")
    return "polkitd, logind"


@tries("removes it", "nothing runs and nothing listens; people's contacts stay")
def removes():
    books = sorted(glob.glob(BOOK))
    status, said = command("dpkg", "--remove", "contactbroker", timeout=60)
    must(status == 0, said[-400:])
    must(not pid(), "the broker runs on")
    must(not os.path.exists("/run/contactbroker"), "the doors are still there")
    must(not os.path.exists(AGENT), "the agent is still there")
    must(sorted(glob.glob(BOOK)) == books and books, "contacts were removed")
    must(os.path.exists(SETTINGS), "settings were removed")
    return f"{len(books)} books are still there"


@tries("purges it", "no contact, no setting, no enabled unit is left")
def purges():
    status, said = command("dpkg", "--purge", "contactbroker", timeout=60)
    must(status == 0, said[-400:])
    left = [path for path in (STATE, "/etc/contactbroker", "/run/contactbroker") if os.path.exists(path)]
    left += glob.glob("/etc/systemd/system/*/contactbroker*")
    must(not left, f"left: {left}")
    _, override = command("dpkg-statoverride", "--list", AGENT)
    must(AGENT not in override, override)
    return "nothing is left"


run()
