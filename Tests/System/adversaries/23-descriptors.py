"""a program that sends file descriptors with its calls, to a broker whose kernel cannot refuse them"""

import os
import subprocess
import sys
import time

from fixture.accounts import as_user, start
from fixture.broker import SERVICE, SOCKETS, command, fresh, pid
from fixture.varlink import APPS, Connection
from fixture.verdict import must, run, tries

CALL = b'{"method":"io.contactbroker.Contacts.GetAuthorization"}\0'
# Seconds for which the close of a sent socket waits: longer than this program runs.
LINGER = 3600
# Maximum seconds until another program is answered.
ANSWERED = 5
DROP_IN = "/run/systemd/system/contactbroker.service.d/old-kernel.conf"

# Sends sockets whose close waits, one on each connection, and exits, so that only the connection has them.
SEND = r"""
import array, resource, socket, struct, sys
from fixture.varlink import APPS

resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
CALL, LINGER, way, count = bytes(sys.argv[1], "ascii") + b"\0", int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def lingering():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    sender = socket.socket()
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    sender.connect(listener.getsockname())
    sender.setblocking(False)
    try:
        while True:
            sender.send(b"x" * 65536)
    except BlockingIOError:
        pass
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, LINGER))
    return listener, sender

kept, sent = [], 0
for _ in range(count):
    listener, sender = lingering()
    each = socket.socket(socket.AF_UNIX)
    each.connect(APPS)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sender.fileno()]))]
    try:
        if way == "out of band":
            each.sendmsg([CALL[:1]], rights, socket.MSG_OOB)
            try:
                each.sendall(CALL[1:])
            except BrokenPipeError:
                # The descriptor was sent, and the broker has closed the connection already.
                pass
        elif way == "after a call":
            each.sendall(CALL)
            each.sendmsg([CALL], rights)
        else:
            each.sendmsg([CALL], rights)
        sent += 1
    except OSError as error:
        print("not sent:", error)
    sender.close()
    kept.append(listener)
    if way != "and closes":
        kept.append(each)
print("sent", sent, flush=True)
sys.stdin.read()
"""


def restart(lines):
    """Restarts the broker and its sockets, with these lines in the section [Service]."""
    os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
    with open(DROP_IN, "w") as file:
        file.write("[Service]\n" + lines)
    command("systemctl", "daemon-reload")
    command("systemctl", "stop", *SOCKETS, SERVICE)
    command("systemctl", "reset-failed")
    command("systemctl", "start", *SOCKETS)


def old_kernel():
    """Restarts the broker so that it cannot have the kernel refuse descriptors."""
    restart("Environment=LD_PRELOAD=/srv/test/no-passrights.so\n")
    fresh()
    with open(f"/proc/{pid()}/maps") as maps:
        must("no-passrights" in maps.read(), "the option was not hidden, so nothing was tested")


def answered_after(user):
    """Seconds until a new program of the user is answered."""

    def call():
        began = time.monotonic()
        connection = Connection(APPS, 60)
        connection.call("io.contactbroker.Contacts.GetAuthorization")
        connection.close()
        return time.monotonic() - began

    return as_user(user, call, timeout=90)


def send(way, count, delay=0):
    """A program of alice's sends that many sockets. Returns how long bob waits for an answer, at most, less the delay."""
    call = CALL[:-1].decode()
    sender = start(
        "alice", [sys.executable, "-c", SEND, call, str(LINGER), way, str(count)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said = sender.stdout.readline().strip()
        waits = [answered_after("bob") - delay]
        waits += [answered_after("bob") for _ in range(5)]
        must(said == f"sent {count}", f"the attack did not work: {said}")
        return max(waits)
    finally:
        sender.kill()
        sender.wait()


def held(longest):
    must(longest < ANSWERED, f"bob waited {longest:.1f} s")
    return f"bob waited at most {longest:.2f} s"


@tries("sends a socket whose close waits an hour, on 20 connections", f"another user is answered within {ANSWERED} s")
def sends():
    old_kernel()
    return held(send("at once", 20))


@tries("sends them after a call, so that both are received together", f"another user is answered within {ANSWERED} s")
def sends_after():
    return held(send("after a call", 20))


@tries("sends them with bytes out of band", f"another user is answered within {ANSWERED} s")
def sends_out_of_band():
    return held(send("out of band", 20))


@tries("sends them and closes the connection before the broker reads", f"another user is answered within {ANSWERED} s")
def sends_and_closes():
    return held(send("and closes", 20))


@tries("sends them on 1,100 connections, more than a user may have", f"another user is answered within {ANSWERED} s")
def sends_many():
    return held(send("at once", 1100))


@tries("sends them between boot and the broker's first start", f"another user is answered within {ANSWERED} s of it")
def sends_before():
    # systemd listens, and the first connection starts the broker, which takes this long.
    restart("ExecStartPre=/bin/sleep 3\n")
    try:
        longest = send("at once", 20, delay=3)
    finally:
        os.unlink(DROP_IN)
        os.rmdir(os.path.dirname(DROP_IN))
        command("systemctl", "daemon-reload")
        fresh()
    return held(longest)


run()
