"""an administrator who installs, upgrades, removes and purges the package

The package replaces what `make install` installed, so this must run last.
"""

import glob
import os
import stat

from fixture.accounts import run as run_as
from fixture.broker import (
    AUTHORIZATION, CALLER, MARKER, REQUEST_ACCESS, SERVICE, STATE, Asking, command, fresh, pid, secrets, wait_for)
from fixture.person import Agent
from fixture.varlink import APPS, admin, attempt
from fixture.verdict import NotBuilt, must, run, tries

PACKAGE = "/srv/test/contactbroker.deb"
AGENT = "/usr/bin/contact-agent"
SETTINGS = "/etc/contactbroker/contactbroker.toml"
RULES = "/etc/contactbroker/policy.d/90-test.toml"
CHECK = ["/usr/libexec/contactbroker/contactbrokerd", "--check-configuration", "--system"]
# A drop-in that keeps the broker from starting, whatever its settings.
DROP_IN = "/run/systemd/system/contactbroker.service.d/few.conf"
BOOK = STATE + "/users/*/contacts.sqlite"
SOCKETS = ["contactbroker-apps.socket", "contactbroker-agent.socket", "contactbroker-admin.socket"]


def install():
    if not os.path.exists(PACKAGE):
        raise NotBuilt(PACKAGE)
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    status, said = command("dpkg", "--install", "--force-confold", PACKAGE, timeout=60)
    must(status == 0, said[-400:])
    return said


def listed():
    """The output of alice's contactbook, which has full access."""
    return run_as("alice", ["contactbook", "list"], timeout=30)[1]


def answers():
    return attempt(admin, "GetStatus")[0] is None


@tries("installs it over the existing files", "the agent has its group, and a call starts the broker")
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
    must(not pid(), "the broker was started before the first call")
    wait_for(answers, "the broker answers root")
    return "2755 root:contact-agent; the sockets listen; started by the first call"


@tries("installs it again, as an upgrade", "a new process serves; books and settings are unchanged")
def upgrades():
    before, books, settings = pid(), sorted(glob.glob(BOOK)), open(SETTINGS).read()
    must(books, "there is no book, so nothing is tested")
    install()
    wait_for(answers, "the broker answers root")
    must(pid() != before, "the old process still serves")
    must(sorted(glob.glob(BOOK)) == books, "books are gone")
    must(open(SETTINGS).read() == settings, "settings were replaced")
    return f"{len(books)} books and the settings are unchanged; a new process serves"


@tries("upgrades it while an agent waits", "the agent restarts from the new file and gets prompts")
def upgrades_under_an_agent():
    with Agent("alice") as person:
        # dpkg replaces the file, as with another version, so the old one can no longer be executed.
        before = os.stat(AGENT).st_ino
        install()
        must(os.stat(AGENT).st_ino != before, "the agent's file was not replaced")
        # The main screen of the former process also says that it waits, so only the question for the password tells
        # that the new one has started.
        if person.wait("Password:", "could not restart", timeout=40) == "Password:":
            person.type_password("password of alice")
            person.wait("Waiting for apps")
        must("could not restart" not in person.text, person.text[-300:])
        wait_for(answers, "the broker answers root")
        with Asking("alice", [CALLER, APPS, REQUEST_ACCESS]):
            person.wait("asks to see your contacts", timeout=40)
    return "it showed an app's prompt after the upgrade"


def refuses_every_app(said, subject, place, cure):
    """Checks what the upgrade printed, and that the new broker runs, refuses every app and says so."""
    must(place in said and "until they are corrected every app is refused" in said.lower(), f"no warning: {said[-400:]}")
    must("did not start" not in said, said[-400:])
    wait_for(answers, "the broker answers root")
    must(not secrets(listed()), "alice's program was served")
    _, stranger = run_as("alice", [CALLER, APPS, AUTHORIZATION], timeout=10)
    must("restricted" in stranger, f"another app of hers: {stranger}")
    problem = admin("GetStatus")["status"].get(subject + "Problem", "")
    must(place in problem and cure in problem, f"the status names no problem: {problem}")
    _, journal = command("journalctl", "--catalog", "--boot", "--no-pager", "--unit=" + SERVICE, "--lines=40")
    must(f"{subject} cannot be read, and every app is refused" in journal and place in journal, "the journal does not report it")


@tries("upgrades it with an invalid setting", "a warning; the broker runs and refuses every app until it is corrected")
def upgrades_with_a_mistake():
    settings = open(SETTINGS).read()
    must(MARKER in listed(), f"alice's contactbook sees nothing: {listed()}")
    place = f"{SETTINGS}:{settings.count(chr(10)) + 2}: contacts.region: "
    try:
        with open(SETTINGS, "a") as file:
            file.write("[contacts]\nregion = 49\n")
        refuses_every_app(install(), "settings", place, "systemctl restart")
    finally:
        with open(SETTINGS, "w") as file:
            file.write(settings)
    status, said = command(*CHECK)
    must(status == 0, said)
    fresh()
    must(MARKER in listed(), f"the old grant does not apply: {listed()}")
    return "dpkg succeeds and names the line; nothing is disclosed; after correction and restart the old grant applies"


@tries("upgrades it with an invalid rule after one that denies alice's program",
       "a warning; the broker runs and refuses every app until it is corrected")
def upgrades_with_a_broken_rule():
    denies = '[[rule]]\nstrengths = ["installed"]\ndeny = true\n'
    must(MARKER in listed(), f"alice's contactbook sees nothing: {listed()}")
    try:
        with open(RULES, "w") as file:
            file.write(denies)
        command("contactctl", "reload")
        must(not secrets(listed()), "the rule does not deny, so nothing is tested")
        with open(RULES, "w") as file:
            file.write(denies + '\n[[rule]]\nforce = "most"\n')
        refuses_every_app(install(), "policy", RULES + ":6: rule[1].force: ", "contactctl reload")
    finally:
        os.unlink(RULES)
    status, said = command(*CHECK)
    must(status == 0, said)
    command("contactctl", "reload")
    must(MARKER in listed(), f"the old grant does not apply: {listed()}")
    return "dpkg succeeds and names the line; nothing is disclosed; after correction and reload the old grant applies"


@tries("checks a settings file that root can read and the broker cannot", "the check reports what the broker would report")
def checks_as_the_broker():
    mode = stat.S_IMODE(os.stat(SETTINGS).st_mode)
    try:
        os.chmod(SETTINGS, 0o600)
        status, said = command(*CHECK)
    finally:
        os.chmod(SETTINGS, mode)
    must(status == 78 and f"{SETTINGS}: cannot be opened: Permission denied" in said, f"{status}: {said}")
    return said.splitlines()[0]


@tries("upgrades it while the broker cannot start", "dpkg succeeds, and says that it did not start and how to see why")
def upgrades_without_a_start():
    wait_for(answers, "the broker answers root")
    try:
        os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
        with open(DROP_IN, "w") as file:
            file.write("[Service]\nLimitNOFILE=32\n")
        said = install()
        must(f"{SERVICE} did not start" in said and "journalctl" in said, f"no warning: {said[-400:]}")
        _, state = command("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}", "contactbroker")
        must(state.strip() == "ii", f"the package is {state}")
    finally:
        os.unlink(DROP_IN)
        os.rmdir(os.path.dirname(DROP_IN))
        command("systemctl", "daemon-reload")
        fresh()
    return "dpkg succeeds, and names the journalctl command"


@tries("reads the package's dependencies", "polkit and logind, without which no agent starts")
def depends():
    _, needs = command("dpkg-deb", "--field", PACKAGE, "Depends")
    must("polkitd" in needs and "logind" in needs, f"Depends: {needs}")
    return "polkitd, logind"


@tries("removes it", "nothing runs or listens; contacts and settings stay")
def removes():
    books = sorted(glob.glob(BOOK))
    status, said = command("dpkg", "--remove", "contactbroker", timeout=60)
    must(status == 0, said[-400:])
    must(not pid(), "the broker still runs")
    must(not os.path.exists("/run/contactbroker"), "the sockets are still there")
    must(not os.path.exists(AGENT), "the agent is still there")
    must(sorted(glob.glob(BOOK)) == books and books, "contacts were removed")
    must(os.path.exists(SETTINGS), "settings were removed")
    return f"{len(books)} books are still there"


@tries("purges it", "no contacts, settings or enabled units are left")
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
