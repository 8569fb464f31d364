"""a program of the same user that does what no broker can prevent"""

import os
import subprocess
import time

from fixture.accounts import run as run_as, start
from fixture.broker import AUTHORIZATION, CALLER, command, fresh, secrets
from fixture.person import PASSWORD_PROMPT, Terminal, WAITING, password
from fixture.varlink import AGENT, APPS, admin
from fixture.verdict import Skipped, concedes, must, run, tries

fresh()
IMPOSTOR = "/srv/test/impostor"
NAMES = '{"method":"io.contactbroker.Contacts.FetchContacts","parameters":{"keys":["familyName"]}}'
BUTTON = '{"method":"io.contactbroker.Contacts.RequestContacts","parameters":{"query":"saga"}}'
CONFIRM = "/etc/contactbroker/policy.d/90-confirm.toml"
TMUX = ["tmux", "-S", "/home/alice/tmux.sock"]


@concedes("makes contactbook's file its own executable (PR_SET_MM_MAP in a user namespace of a child)",
          "With a child process in a user namespace of its own it can set another file as its executable")
def forged():
    status, said = run_as("alice", [IMPOSTOR, "/usr/bin/contactbook", APPS, AUTHORIZATION, NAMES])
    if status == 4:
        raise Skipped(said)
    must('"full"' in said, f"it did not get contactbook's access, so nothing was tested: {said[:200]}")
    return "it is taken for contactbook, and reads alice's contacts"


@tries("makes the agent's setgid file its own executable", "the agent's socket is closed to it")
def forged_agent():
    status, said = run_as("alice", [IMPOSTOR, "/usr/bin/contact-agent", AGENT, '{"method":"io.contactbroker.Agent.Serve","more":true}'])
    if status == 4:
        raise Skipped(said)
    must("Permission denied" in said or said.strip() == "closed", said)
    return said.strip()


PEEK = r'''
import ctypes, json, os, socket, subprocess, sys, time
victim = subprocess.Popen([sys.executable, "-c", """
import socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); s.connect("%s")
s.sendall(b'{"method":"io.contactbroker.Contacts.GetAuthorization"}\\0'); time.sleep(20)
"""])
libc, end = ctypes.CDLL(None, use_errno=True), time.monotonic() + 10
got = b""
while not got and time.monotonic() < end:
    pidfd = libc.syscall(434, victim.pid, 0)
    for number in range(3, 10):
        file = libc.syscall(438, pidfd, number, 0)
        if file < 0: continue
        try: got = socket.socket(fileno=file).recv(4096, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError: continue
    os.close(pidfd)
victim.kill()
print(got.decode())
''' % APPS


@concedes("peeks into the socket of another program of alice (pidfd_getfd, MSG_PEEK)",
          "**A program can read replies to other programs of its user**")
def peeked():
    _, said = run_as("alice", ["python3", "-c", PEEK])
    must('"status"' in said, f"it read nothing, so nothing was tested: {said[:200]}")
    return "it read the other program's reply"


class TypedInto:
    """The person's agent in tmux, at the prompt of an access button. A program presses the agent's keys through tmux."""

    def __enter__(self):
        fresh()
        run_as("alice", [*TMUX, "kill-server"])
        self.person = Terminal("alice", " ".join(TMUX + ["-f", "/dev/null", "new-session", "-s", "person", "contact-agent"]))
        self.person.wait(PASSWORD_PROMPT)
        # tmux turns the echo of its own terminal off at once, so that does not show when the password may be typed.
        self.person.watch(2)
        self.person.press(password("alice") + "\n")
        self.person.wait(WAITING)
        self.app = start("alice", [CALLER, APPS, BUTTON, NAMES], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.person.wait("Saga")
        return self

    def press(self, *keys):
        for key in keys:
            # The agent ignores an approval that comes before the person could read the prompt.
            self.person.watch(1)
            run_as("alice", [*TMUX, "send-keys", "-t", "person", key])

    def said(self):
        try:
            out, _ = self.app.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self.app.kill()
            out, _ = self.app.communicate()
        return out.decode(errors="replace")

    def __exit__(self, *_):
        self.app.kill()
        run_as("alice", [*TMUX, "kill-server"])
        self.person.close()
        for each in admin("ListGrants", uid=1000)["grants"]:
            if each["strength"] == "unverified":
                admin("ResetGrant", uid=1000, app=each["app"], strength="unverified")


@concedes("presses the keys that share a contact in the agent's terminal (tmux send-keys)",
          "A program of the same user can press keys in the agent's terminal")
def typed():
    with TypedInto() as attack:
        attack.press("s", "y")
        said = attack.said()
    must("Lindqvist" in said, f"the keys shared nothing, so nothing was tested: {said[:200]}")
    must("Okafor" not in said, f"more than the one contact: {said[:200]}")
    return "one contact"


@tries("does the same where the policy says agent.confirm = password", "nothing without the password")
def confirmed():
    with open(CONFIRM, "w") as file:
        file.write('[agent]\nconfirm = "password"\n')
    try:
        command("contactctl", "reload")
        with TypedInto() as attack:
            attack.press("s", "y")
            attack.person.wait(PASSWORD_PROMPT)
            said = attack.said()
        must(not secrets(said), said[:200])
    finally:
        os.unlink(CONFIRM)
        command("contactctl", "reload")
    return "the password is asked for, and the app gets nothing"


run()
