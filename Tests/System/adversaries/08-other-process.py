"""a process that uses another process's connection"""

import ctypes
import json
import os
import signal
import subprocess
import sys

from fixture.accounts import as_user, become, start
from fixture.broker import MARKER, fresh, secrets
from fixture.person import Agent
from fixture.varlink import APPS, Connection, attempt
from fixture.verdict import Skipped, must, run, tries

PIDFD_GETFD, PIDFD_OPEN = 438, 434
FETCH = {"keys": ["givenName", "familyName"]}

# An app whose process has full access, and which executes one command per line of input.
VICTIM = """
import os, sys
from fixture.varlink import APPS, Connection, attempt
first = Connection(APPS, 60)
print("asked", attempt(first.call, "io.contactbroker.Contacts.RequestAccess")[1], flush=True)
connections = [first]
for line in sys.stdin:
    word, *rest = line.split()
    if word == "connect":
        connections.append(Connection(APPS, 20))
        print("connected", connections[-1].socket.fileno(), attempt(connections[-1].call, "io.contactbroker.Contacts.GetAuthorization")[0], flush=True)
    elif word == "fetch":
        print("fetched", attempt(connections[int(rest[0])].call, "io.contactbroker.Contacts.FetchContacts", {"keys": ["familyName"]}), flush=True)
    elif word == "exec":
        number = connections[int(rest[0])].socket.fileno()
        os.set_inheritable(number, True)
        call = '{"method":"io.contactbroker.Contacts.FetchContacts","parameters":{"keys":["familyName"]}}'
        os.execv("/bin/bash", ["bash", "-c", f"printf '%s\\\\0' '{call}' >&{number}; IFS= read -r -d '' -t 10 x <&{number}; echo got $x"])
"""


class Victim:
    def __init__(self):
        self.process = start(
            "alice", [sys.executable, "-c", VICTIM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self):
        return self.process.stdout.readline().strip()

    def tell(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return self.line()

    def close(self):
        self.process.kill()
        self.process.wait()


def granted(person):
    """A process to which alice gave full access, with her password."""
    victim = Victim()
    person.wait("asks to see your contacts")
    person.press("c")
    person.wait("What may")
    person.approve("a")
    person.give_password("alice", "You shared all contacts")
    must("full" in victim.line(), "the victim has no access, so nothing was tested")
    return victim


fresh()
person = Agent("alice")
victim = granted(person)


@tries("(the app itself reads its contacts)", "all contacts: there is something to steal")
def itself():
    got = victim.tell("fetch 0")
    must(MARKER in got, got)
    return "all of them"


@tries("copies the app's socket with pidfd_getfd and makes a call on it", "no contact; the connection is closed")
def stolen():
    number, socket_number = victim.process.pid, int(victim.tell("connect").split()[1])

    def steal():
        libc = ctypes.CDLL(None, use_errno=True)
        file = libc.syscall(PIDFD_GETFD, libc.syscall(PIDFD_OPEN, number, 0), socket_number, 0)
        if file < 0:
            return ["not stolen", os.strerror(ctypes.get_errno())]
        connection = Connection.__new__(Connection)
        import socket
        connection.socket, connection.buffer = socket.socket(fileno=file), b""
        connection.socket.settimeout(10)
        return list(attempt(connection.call, "io.contactbroker.Contacts.FetchContacts", FETCH))

    got = as_user("alice", steal)
    must(not secrets(got), str(got))
    must(got[0] == "connection closed", str(got))
    return got[0]


@tries("uses the inherited connection as a forked child of the app", "no contact; the connection is closed")
def inherited():
    def fork():
        connection = Connection(APPS, 10)
        before = attempt(connection.call, "io.contactbroker.Contacts.GetAuthorization")[0]
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, json.dumps(attempt(connection.call, "io.contactbroker.Contacts.GetAuthorization")).encode())
            os._exit(0)
        os.waitpid(child, 0)
        return [before, json.loads(os.read(reading, 65536))]

    before, got = as_user("alice", fork)
    must(before is None, f"the parent's call failed: {before}")
    must(got[0] == "connection closed", str(got))
    return got[0]


@tries("executes another program (exec) with the app's open connection", "no contact")
def exec_after_connect():
    other = granted(person)
    try:
        other.tell("connect")
        got = other.tell("exec 1")
    finally:
        other.close()
    must(got.startswith("got") and not secrets(got), got)
    return got[:100]


@tries("keeps an ended app's socket open while another process gets its PID (root helps)", "no contact; the connection is closed")
def reused_pid():
    def reuse():
        """As root, with a child that becomes alice: only root can choose a PID."""

    reading, writing = os.pipe()
    keep, give = os.pipe()
    owner = os.fork()
    if owner == 0:
        become("alice")
        connection = Connection(APPS, 10)
        attempt(connection.call, "io.contactbroker.Contacts.GetAuthorization")
        # The keeper keeps the connection open while another process gets its owner's PID.
        keeper = os.fork()
        if keeper == 0:
            os.close(give)
            os.read(keep, 1)
            answer = attempt(connection.call, "io.contactbroker.Contacts.GetAuthorization")
            os.write(writing, json.dumps(answer).encode())
            os._exit(0)
        os._exit(0)
    os.close(keep)
    os.waitpid(owner, 0)
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(owner - 1))
    again = os.fork()
    if again == 0:
        os.close(give)
        become("alice")
        signal.pause()
    os.close(give)
    try:
        if again != owner:
            raise Skipped(f"the PID {owner} could not be reused")
        os.close(writing)
        got = json.loads(os.read(reading, 65536) or b'["connection closed", null]')
    finally:
        os.kill(again, signal.SIGKILL)
        os.waitpid(again, 0)
    must(got[0] == "connection closed", str(got))
    return f"PID {owner} reused; {got[0]}"


run()
victim.close()
person.close()
