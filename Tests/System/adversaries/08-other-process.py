"""a process that uses another process's connection"""

import ctypes
import json
import os
import socket
import subprocess
import sys

from fixture.accounts import as_user, become, start
from fixture.broker import CALLER, MARKER, REQUEST_ACCESS, fresh, secrets
from fixture.person import Agent
from fixture.varlink import APPS, Connection, admin, attempt
from fixture.verdict import Skipped, must, run, tries

PIDFD_GETFD, PIDFD_OPEN = 438, 434
FETCH = {"keys": ["familyName"]}
FETCH_CALL = json.dumps({"method": "io.contactbroker.Contacts.FetchContacts", "parameters": FETCH})

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


def share_all(person):
    person.wait("asks to see your contacts")
    person.share_all()
    person.give_password("alice", "You shared all contacts")


def granted(person):
    """A process to which alice gave full access, with her password."""
    victim = Victim()
    share_all(person)
    must("full" in victim.line(), "the victim has no access, so nothing was tested")
    return victim


def copied(process, number):
    """A copy of another process's socket."""
    libc = ctypes.CDLL(None, use_errno=True)
    file = libc.syscall(PIDFD_GETFD, libc.syscall(PIDFD_OPEN, process, 0), number, 0)
    if file < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    connection = Connection.__new__(Connection)
    connection.socket, connection.buffer = socket.socket(fileno=file), b""
    connection.socket.settimeout(10)
    return connection


def fetch(connection):
    return attempt(connection.call, "io.contactbroker.Contacts.FetchContacts", FETCH)


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
    got = as_user("alice", lambda: fetch(copied(number, socket_number)))
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


def with_pid(number, function):
    """Calls the function in a process of alice's that gets this PID, and returns its result. Only root can choose a PID."""
    for _ in range(50):
        reading, writing = os.pipe()
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(number - 1))
        child = os.fork()
        if child == 0:
            try:
                if os.getpid() == number:
                    become("alice")
                    os.write(writing, json.dumps(function()).encode())
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with os.fdopen(reading) as file:
            got = file.read()
        # Another process may have got the PID first; it may end soon.
        if child == number:
            return json.loads(got)
    raise Skipped(f"the PID {number} could not be reused")


@tries("gets the PID of an ended script with access (root helps), and calls on its connection and on one of its own",
       "no contact; another process than the script")
def reused_pid():
    # A grant to a script applies to its process.
    other = granted(person)
    try:
        copy = copied(other.process.pid, int(other.tell("connect").split()[1]))
        must(MARKER in other.tell("fetch 1"), "the script reads nothing, so nothing was tested")
    finally:
        other.close()
    own, kept = with_pid(other.process.pid, lambda: [
        attempt(Connection(APPS, 10).call, "io.contactbroker.Contacts.GetAuthorization"), fetch(copy)])
    must(own[0] is None and own[1]["status"] == "notDetermined", f"on its own connection: {own}")
    must(kept[0] == "connection closed", f"on the script's connection: {kept}")
    return f"PID {other.process.pid} reused; its own: {own[1]['status']}; the script's: {kept[0]}"


@tries("gets the PID of an ended program with lasting access (root helps), and calls on its connection",
       "no contact; the connection is closed")
def reused_pid_of_lasting():
    app = start("alice", [CALLER, APPS, REQUEST_ACCESS, FETCH_CALL, ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        share_all(person)
        must("full" in app.stdout.readline() and MARKER in app.stdout.readline(), "it reads nothing, so nothing was tested")
        # Its socket is the first descriptor that it opened. While it waits for its input, all its calls are answered.
        copy = copied(app.pid, 3)
        app.communicate(timeout=20)
        got = with_pid(app.pid, lambda: fetch(copy))
        must(got[0] == "connection closed", str(got))
    finally:
        app.kill()
        for each in admin("ListGrants", uid=1000)["grants"]:
            if each["strength"] == "unverified" and each["status"] == "full":
                admin("ResetGrant", uid=1000, app=each["app"], strength="unverified")
    return f"PID {app.pid} reused; {got[0]}"


run()
victim.close()
person.close()
