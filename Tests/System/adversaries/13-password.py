"""whoever has alice's terminal, and not her password"""

import os
import signal
import subprocess
import time

from house.accounts import as_user, run as run_as, start
from house.broker import CALLER, REQUEST_ACCESS, Asking, command, fresh
from house.person import PASSWORD_PROMPT, WAITING, Agent, Terminal
from house.varlink import APPS, admin, attempt
from house.verdict import must, run, tries


class SharingAll:
    """An app asks, and at the agent somebody presses the key that shares everything."""

    def __init__(self, before=lambda: None):
        """before: what happens between the agent's start and the app's question."""
        self.before = before

    def __enter__(self):
        fresh()
        self.person = Agent("alice")
        self.before()
        self.ask()
        return self

    def ask(self):
        """Has the app ask, and until its back-off is over ask again."""
        end = time.monotonic() + 20
        while True:
            self.app = start("alice", [CALLER, APPS, REQUEST_ACCESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            while self.app.poll() is None and "asks to see your contacts" not in self.person.text:
                self.person.watch(0.05)
            if self.app.poll() is None or time.monotonic() > end:
                break
            self.app.communicate()
        self.person.wait("asks to see your contacts")
        self.person.press("c")
        self.person.wait("What may")
        self.person.approve("a")

    def go_away(self):
        self.app.kill()
        self.app.communicate()

    def take_back(self):
        app = self.shared()[0]
        admin("ResetGrant", uid=1000, app=app["app"], strength="unverified")

    def __exit__(self, *_):
        self.go_away()
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
        sharing.take_back()
    return "shared, and taken back"


@tries("is an app that goes away while alice is asked for the password", "the next one's question is asked as ever")
def moot():
    with SharingAll() as sharing:
        sharing.person.wait(PASSWORD_PROMPT)
        sharing.go_away()
        sharing.person.wait("no longer waits")
        must(not sharing.shared(), "everything was shared")
        sharing.ask()
        sharing.person.give_password("alice", "You shared all contacts")
        must(sharing.shared(), "nothing was shared")
        sharing.take_back()
    return "nothing shared; the next one's was asked, and shared"


@tries("starts the agent and goes away in the midst of the question, twenty times", "polkit goes on answering")
def leaves():
    fresh()
    for _ in range(20):
        with Terminal("alice", "contact-agent") as terminal:
            terminal.wait(PASSWORD_PROMPT)
    with Agent("alice"):
        pass
    return "alice was asked for her password after that, and serves"


@tries("(polkit is started anew while alice's agent serves)", "her next answer wants the password, and counts")
def polkit_anew():
    with SharingAll(before=lambda: command("systemctl", "restart", "polkit.service")) as sharing:
        sharing.person.give_password("alice", "You shared all contacts")
        must(sharing.shared(), "nothing was shared")
        sharing.take_back()
    return "asked, shared, and taken back"


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


@tries("has polkit hang (SIGSTOP)", "a denial in time that says what to do; others are served; polkit started anew is asked")
def hung():
    fresh()
    command("systemctl", "start", "polkit.service")
    _, text = command("systemctl", "show", "--property=MainPID", "--value", "polkit.service")
    os.kill(int(text), signal.SIGSTOP)
    try:
        begun = time.monotonic()
        with Terminal("alice", "contact-agent") as terminal:
            must(attempt(admin, "GetStatus")[0] is None, "the broker hangs with polkit")
            _, said = run_as("bob", [CALLER, APPS, '{"method":"io.contactbroker.Contacts.GetAuthorization"}'], timeout=10)
            must("notDetermined" in said, f"bob was told {said!r}")
            # 5 for pkttyagent, and 20 in which polkit may think.
            terminal.wait("systemctl restart polkit.service", timeout=40)
            took = time.monotonic() - begun
            must(terminal.wait_for_end() != 0, "it ended as if all were well")
            must(WAITING not in terminal.everything, "it serves while polkit hangs")
    finally:
        command("systemctl", "restart", "polkit.service")
    with Agent("alice"):
        pass
    return f"refused after {took:.0f} s, with what to do; bob and root are answered; polkit started anew is asked"


@tries("contactctl reset without a password", "NotAuthorized")
def manage_own():
    fresh()
    status, said = run_as("alice", ["contactctl", "reset", "contactbook"], timeout=30)
    must(status not in (0, "no end"), said)
    must(any(each["app"].endswith("contactbook") for each in admin("ListGrants", uid=1000)["grants"]), "it was reset")
    return " ".join(said.split())[:120]


run()
