"""whoever has alice's terminal, and not her password"""

import os
import signal
import subprocess

from house.accounts import as_user, run as run_as, start
from house.broker import CALLER, REQUEST_ACCESS, Asking, command, fresh
from house.person import PASSWORD_PROMPT, WAITING, Agent, Terminal
from house.varlink import APPS, admin, attempt
from house.verdict import must, run, tries


class SharingAll:
    """An app asks, and at the agent somebody presses the key that shares everything."""

    def __enter__(self):
        fresh()
        self.person = Agent("alice")
        self.app = start("alice", [CALLER, APPS, REQUEST_ACCESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.person.wait("asks to see your contacts")
        self.person.press("c")
        self.person.wait("What may")
        self.person.approve("a")
        return self

    def __exit__(self, *_):
        self.app.kill()
        self.app.communicate()
        self.person.close()

    def shared(self):
        return [each for each in admin("ListGrants", uid=1000)["grants"]
                if each["status"] == "full" and each["strength"] == "unverified"]


@tries("shares everything with an app, and types a wrong password", "nothing is shared")
def wrong():
    with SharingAll() as sharing:
        sharing.person.wait(PASSWORD_PROMPT)
        for _ in range(3):
            sharing.person.type_password("not it")
            if sharing.person.wait(PASSWORD_PROMPT, "not recognised", "AUTHENTICATION FAILED", "shared all") != PASSWORD_PROMPT:
                break
        sharing.person.watch(1)
        must(not sharing.shared(), "everything was shared")
    return "not recognised; no grant"


@tries("shares everything, and interrupts the question for the password", "nothing is shared")
def cancelled():
    with SharingAll() as sharing:
        sharing.person.wait(PASSWORD_PROMPT)
        sharing.person.press("\x03")
        sharing.person.watch(2)
        must(not sharing.shared(), "everything was shared")
    return "no grant"


@tries("shares everything, and leaves the question for the password standing", "nothing is shared; others are answered meanwhile")
def hanging():
    with SharingAll() as sharing:
        sharing.person.wait(PASSWORD_PROMPT)
        must(attempt(admin, "GetStatus")[0] is None, "the broker waits for polkit")
        _, said = run_as("bob", [CALLER, APPS, '{"method":"io.contactbroker.Contacts.GetAuthorization"}'], timeout=10)
        must("notDetermined" in said, f"bob was told {said!r}")
        must(not sharing.shared(), "everything was shared")
    return "no grant; bob and root were answered"


@tries("(alice does the same with the right password)", "it is shared: the others failed for want of it alone")
def right():
    with SharingAll() as sharing:
        sharing.person.give_password("alice", "You shared all contacts")
        must(sharing.shared(), "nothing was shared")
        app = sharing.shared()[0]
    admin("ResetGrant", uid=1000, app=app["app"], strength="unverified")
    return "shared, and taken back"


@tries("has polkit stopped before the agent starts", "no agent serves")
def absent():
    fresh()
    command("systemctl", "mask", "--runtime", "--now", "polkit.service")
    try:
        with Terminal("alice", "contact-agent") as terminal:
            terminal.watch(6)
            must(WAITING not in terminal.text, "it serves without polkit")
            with Asking("alice", [CALLER, APPS, REQUEST_ACCESS]) as asking:
                terminal.watch(2)
                must(not (asking.prompt or {}).get("shown"), "a prompt was shown")
        error, _ = as_user("alice", lambda: attempt(admin, "ResetGrant"))
        must(error in ("NotAuthorized", "InteractiveAuthenticationRequired"), f"ResetGrant: {error}")
    finally:
        command("systemctl", "unmask", "--runtime", "polkit.service")
    return "no agent serves, and what wants a password is NotAuthorized"


@tries("has polkit hang (SIGSTOP)", "a denial in time; the broker goes on for others")
def hung():
    fresh()
    command("systemctl", "start", "polkit.service")
    _, text = command("systemctl", "show", "--property=MainPID", "--value", "polkit.service")
    os.kill(int(text), signal.SIGSTOP)
    try:
        with Terminal("alice", "contact-agent") as terminal:
            terminal.watch(4)
            must(WAITING not in terminal.text, "it serves while polkit hangs")
            must(attempt(admin, "GetStatus")[0] is None, "the broker hangs with polkit")
            _, said = run_as("bob", [CALLER, APPS, '{"method":"io.contactbroker.Contacts.GetAuthorization"}'], timeout=10)
            must("notDetermined" in said, f"bob was told {said!r}")
    finally:
        os.kill(int(text), signal.SIGCONT)
    return "no agent serves; bob and root are answered"


@tries("contactctl reset without a password", "NotAuthorized")
def manage_own():
    fresh()
    status, said = run_as("alice", ["contactctl", "reset", "contactbook"], timeout=30)
    must(status not in (0, "no end"), said)
    must(any(each["app"].endswith("contactbook") for each in admin("ListGrants", uid=1000)["grants"]), "it was reset")
    return " ".join(said.split())[:120]


run()
