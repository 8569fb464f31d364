"""somebody who has alice's terminal, but not her password"""

import os
import signal
import subprocess
import time

from fixture.accounts import as_user, run as run_as, start
from fixture.broker import CALLER, REQUEST_ACCESS, Asking, command, fresh
from fixture.person import PASSWORD_PROMPT, WAITING, Agent, Terminal
from fixture.varlink import APPS, admin, attempt
from fixture.verdict import must, run, tries


class SharingAll:
    """An app requests access, and at the agent somebody presses the key that shares all contacts."""

    def __init__(self, before=lambda: None):
        """before: called between the agent's start and the app's request."""
        self.before = before

    def __enter__(self):
        fresh()
        self.person = Agent("alice")
        self.before()
        self.ask()
        return self

    def ask(self):
        """Has the app request access, again and again until its back-off is over."""
        end = time.monotonic() + 20
        while True:
            self.app = start("alice", [CALLER, APPS, REQUEST_ACCESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            while self.app.poll() is None and "asks to see your contacts" not in self.person.text:
                self.person.watch(0.05)
            if self.app.poll() is None or time.monotonic() > end:
                break
            self.app.communicate()
        self.person.wait("asks to see your contacts")
        self.person.share_all()

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


@tries("shares all contacts with an app, and types a wrong password", "no grant")
def wrong():
    with SharingAll() as sharing:
        sharing.person.wait(PASSWORD_PROMPT)
        for _ in range(3):
            sharing.person.type_password("not it")
            if sharing.person.wait(PASSWORD_PROMPT, "password was wrong", "AUTHENTICATION FAILED", "shared all") != PASSWORD_PROMPT:
                break
        sharing.person.watch(1)
        must(not sharing.shared(), "all contacts were shared")
    return "not recognised; no grant"


@tries("shares all contacts, and interrupts the password question", "no grant")
def cancelled():
    with SharingAll() as sharing:
        sharing.person.wait(PASSWORD_PROMPT)
        sharing.person.press("\x03")
        sharing.person.watch(2)
        must(not sharing.shared(), "all contacts were shared")
    return "no grant"


@tries("shares all contacts, and does not answer the password question", "no grant; others are answered meanwhile")
def hanging():
    with SharingAll() as sharing:
        sharing.person.wait(PASSWORD_PROMPT)
        must(attempt(admin, "GetStatus")[0] is None, "the broker waits for polkit")
        _, said = run_as("bob", [CALLER, APPS, '{"method":"io.contactbroker.Contacts.GetAuthorization"}'], timeout=10)
        must("notDetermined" in said, f"bob got {said!r}")
        must(not sharing.shared(), "all contacts were shared")
    return "no grant; bob and root were answered"


@tries("(alice does the same with the right password)", "shared: only the password was missing before")
def right():
    with SharingAll() as sharing:
        sharing.person.give_password("alice", "You shared all contacts")
        must(sharing.shared(), "the contacts were not shared")
        sharing.take_back()
    return "shared, then revoked"


@tries("ends the app while alice is asked for the password", "the next app's prompt works as usual")
def moot():
    with SharingAll() as sharing:
        sharing.person.wait(PASSWORD_PROMPT)
        sharing.go_away()
        sharing.person.wait("closed or answered elsewhere")
        must(not sharing.shared(), "all contacts were shared")
        sharing.ask()
        sharing.person.give_password("alice", "You shared all contacts")
        must(sharing.shared(), "the contacts were not shared")
        sharing.take_back()
    return "nothing shared; the next prompt was shown, and its contacts shared"


@tries("starts the agent and closes it during the password question, twenty times", "polkit still answers")
def leaves():
    fresh()
    for _ in range(20):
        with Terminal("alice", "contact-agent") as terminal:
            terminal.wait(PASSWORD_PROMPT)
    with Agent("alice"):
        pass
    return "after that, alice was asked for her password, and her agent serves"


@tries("(root restarts polkit while alice's agent serves)", "her next answer requires the password and is accepted")
def polkit_anew():
    with SharingAll(before=lambda: command("systemctl", "restart", "polkit.service")) as sharing:
        sharing.person.give_password("alice", "You shared all contacts")
        must(sharing.shared(), "the contacts were not shared")
        sharing.take_back()
    return "asked, shared, then revoked"


@tries("starts the agent while polkit is stopped", "the agent does not serve")
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
    return "the agent does not serve, and calls that require a password are refused"


@tries("starts the agent while polkit hangs (SIGSTOP)", "refused in time, with advice; others are served; works after a restart of polkit")
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
            must("notDetermined" in said, f"bob got {said!r}")
            # 5 seconds for pkttyagent, and 20 for polkit.
            terminal.wait("systemctl restart polkit.service", timeout=40)
            took = time.monotonic() - begun
            must(terminal.wait_for_end() != 0, "it ended with status 0")
            must(WAITING not in terminal.everything, "it serves while polkit hangs")
    finally:
        command("systemctl", "restart", "polkit.service")
    with Agent("alice"):
        pass
    return f"refused after {took:.0f} s, with advice; bob and root are answered; it works after a restart of polkit"


@tries("runs contactctl reset without a password", "refused; the grant stays")
def manage_own():
    fresh()
    status, said = run_as("alice", ["contactctl", "reset", "contactbook"], timeout=30)
    must(status not in (0, "no end"), said)
    must(any(each["app"].endswith("contactbook") for each in admin("ListGrants", uid=1000)["grants"]), "it was reset")
    return " ".join(said.split())[:120]


@tries("runs contactctl audit on her terminal and types a wrong password", "refused; nothing of the audit")
def own_audit():
    fresh()
    must(admin("QueryAudit", uid=1000, event="disclosure")["records"], "her audit has no disclosure, so nothing is tested")
    with Terminal("alice", "contactctl audit") as terminal:
        terminal.wait(PASSWORD_PROMPT)
        terminal.type_password("password of bob")
        status = terminal.wait_for_end()
        must(status != 0, f"it ended with status 0: {terminal.text}")
        must("disclosure" not in terminal.everything, f"it was shown the audit: {terminal.text}")
        return " ".join(terminal.text.split())[-100:]


run()
