"""a user with many connections, sub-uids and unfinished calls"""

import os
import re
import signal
import subprocess
import sys
import time

from fixture.accounts import as_user, run as run_as, start
from fixture.broker import AUTHORIZATION, CALLER, SERVICE, Pace, busy_p99, fresh, p99, paced, pid
from fixture.varlink import APPS, Connection, admin, attempt
from fixture.verdict import must, run, tries

MEGABYTE = 1 << 20
# Maximum seconds until another program is answered.
ANSWERED = 5
# Maximum megabytes by which the broker may grow: the limit on calls of one user (128), and an allowance for half-full buffers
# and fragmentation.
GROWN = 448

# Opens connections, and sends the beginning of a call on each, up to the given size or until the broker stops reading.
HOLD = r"""
import os, resource, socket, sys, time
from fixture.varlink import APPS

def hold(connections, size):
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    left = {}
    for _ in range(connections):
        each = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        each.settimeout(2)
        try:
            each.connect(APPS)
        except OSError:
            break
        each.setblocking(False)
        left[each] = size
    held = list(left)
    beginning, filler = b'{"method":"', b"x" * (1 << 18)
    started = {}
    progress = time.monotonic()
    while size and left and time.monotonic() - progress < 2:
        for each in list(left):
            try:
                data = filler[:left[each]] if each in started else beginning
                sent = each.send(data)
            except BlockingIOError:
                continue
            except OSError:
                del left[each]
                continue
            started[each] = True
            progress = time.monotonic()
            left[each] -= sent
            if left[each] <= 0:
                del left[each]
        time.sleep(0.002)
    return held

def act(connections, size, tell):
    held = hold(connections, size)
    tell()
    time.sleep(60)
"""
# Runs this many processes at once of a large executable that changes all the time, so that it is hashed again and again.
CHANGE = r"""
import os, subprocess, sys, tempfile, time
from fixture.broker import AUTHORIZATION, CALLER
from fixture.varlink import APPS

def act(processes, size, tell):
    with open(CALLER, "rb") as file:
        program = file.read()
    path = os.path.join(tempfile.mkdtemp(dir="/var/tmp"), "program")
    with open(path, "wb") as file:
        file.write(program)
        file.truncate(size)
    os.chmod(path, 0o755)
    tell()
    running, end = [], time.monotonic() + 60
    while time.monotonic() < end:
        running = [each for each in running if each.poll() is None]
        while len(running) < processes:
            running.append(subprocess.Popen([path, APPS, AUTHORIZATION], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        os.utime(path)
        time.sleep(0.02)
"""
# Makes three complete calls of this size in each of this many processes, without a pause.
CALL = r"""
import os, sys, time
from fixture.broker import AUTHORIZATION
from fixture.varlink import APPS, Connection

def act(processes, size, tell):
    call = AUTHORIZATION[:-1].encode() + b" " * size + b"}" + bytes(1)
    for _ in range(processes):
        if os.fork() == 0:
            connection = Connection(APPS, 60)
            for _ in range(3):
                connection.write(call)
                connection.receive()
            os._exit(0)
    tell()
    for _ in range(processes):
        os.wait()
"""
ALONE = r"""
act(int(sys.argv[1]), int(sys.argv[2]), lambda: print("holding", flush=True))
"""
# Does the same in processes of many sub-UIDs. newuidmap is setuid, and maps the sub-UIDs that /etc/subuid gives to the user.
SUBUIDS = r"""
import ctypes, subprocess
uids, first = int(sys.argv[3]), sys.argv[4]
ready, writing = os.pipe()
waiting, go = os.pipe()
child = os.fork()
if child == 0:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000) != 0:
        raise OSError(ctypes.get_errno(), "no user namespace")
    os.write(writing, b"x")
    os.read(waiting, 1)
    done, telling = os.pipe()
    for uid in range(1, uids + 1):
        if os.fork() == 0:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            act(int(sys.argv[1]), int(sys.argv[2]), lambda: os.write(telling, b"x"))
            os._exit(0)
    for _ in range(uids):
        os.read(done, 1)
    print("holding", flush=True)
    time.sleep(60)
    os._exit(0)
os.read(ready, 1)
for program, own in (("newuidmap", os.getuid()), ("newgidmap", os.getgid())):
    subprocess.run([program, str(child), "0", str(own), "1", "1", first, "65536"], check=True)
os.write(go, b"x")
os.waitpid(child, 0)
"""


class Crowd:
    """A program of alice that keeps connections open until the end of the block."""

    def __init__(self, program, connections, size, *more):
        self.process = start(
            "alice", [sys.executable, "-c", program, str(connections), str(size), *map(str, more)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wait(self):
        said = self.process.stdout.readline().decode(errors="replace")
        must(said.startswith("holding"), f"the attempt itself failed: {said or 'no output'}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.communicate()


def sub_uids():
    """Returns the first of alice's sub-UIDs. If she has none, assigns them as useradd does."""
    for path in ("/etc/subuid", "/etc/subgid"):
        text = open(path).read() if os.path.exists(path) else ""
        if not re.search(r"^alice:", text, re.MULTILINE):
            with open(path, "a") as file:
                file.write("alice:100000:65536\n")
    with open("/etc/subuid") as file:
        return re.search(r"^alice:(\d+):65536$", file.read(), re.MULTILINE).group(1)


def resident():
    with open(f"/proc/{pid(SERVICE)}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) // 1024


def asks(user):
    """Returns how long a program of this user waits for an answer."""
    asked = time.monotonic()
    _, said = run_as(user, [CALLER, APPS, AUTHORIZATION], timeout=20)
    took = time.monotonic() - asked
    must('"status"' in said, f"{user}: {said!r}")
    must(took < ANSWERED, f"{user} waited {took:.1f} s")
    return took


@tries("opens 1,024 connections from each of five of alice's sub-uids", "bob, alice and root are answered")
def many_uids():
    fresh()
    number = pid(SERVICE)
    quiet = p99("bob")
    with Crowd(HOLD + SUBUIDS, 1024, 0, 5, sub_uids()) as crowd:
        crowd.wait()
        bob, alice = asks("bob"), asks("alice")
        crowded = p99("bob")
        error, status = attempt(admin, "GetStatus", allUsers=True)
    must(error is None, f"root: {error}")
    must(pid(SERVICE) == number, "the daemon ended")
    most = status["status"]["openConnections"]
    must(most < 1024, f"{most} connections are open")
    return (f"{most} connections are open; bob waited {bob * 1000:.0f} ms, alice {alice * 1000:.0f} ms; "
            f"{paced(crowded, quiet)}")


@tries("sends unfinished calls of 15 MB from 24 of alice's sub-uids", "memory is bounded, and bob is answered")
def memory():
    fresh()
    quiet = p99("bob")
    number, before = pid(SERVICE), resident()
    most, slowest = before, 0.0
    with Crowd(HOLD + SUBUIDS, 8, 15 * MEGABYTE, 24, sub_uids()) as crowd:
        end = time.monotonic() + 12
        while time.monotonic() < end and crowd.process.poll() is None:
            most, slowest = max(most, resident()), max(slowest, asks("bob"))
            time.sleep(0.1)
        crowded = p99("bob")
    must(pid(SERVICE) == number, "the daemon ended")
    must(most - before > 15, f"the broker grew by {most - before} MB only: the attempt itself failed")
    must(most - before < GROWN, f"{most - before} MB more")
    return (f"at most {most - before} MB more; bob waited at most {slowest * 1000:.0f} ms; "
            f"{paced(crowded, quiet)}")


@tries("opens 1,020 silent connections in one program of alice's", "another program of hers is answered")
def silent():
    fresh()
    quiet = p99("bob")
    with Crowd(HOLD + ALONE, 1020, 0) as crowd:
        crowd.wait()
        took = max(asks("alice") for _ in range(5))
        crowded = p99("bob")
    return f"answered in at most {took * 1000:.0f} ms; {paced(crowded, quiet)}"


@tries("sends twelve unfinished calls of 15 MB in one program of alice's", "a call of 300 kB of another one is answered")
def unfinished():
    fresh()

    def call():
        asked = time.monotonic()
        connection = Connection(APPS, 25)
        # Another process of the interpreter is another app.
        connection.write(AUTHORIZATION[:-1].encode() + b" " * 300_000 + b"}\0")
        return attempt(connection.receive)[1], time.monotonic() - asked

    with Crowd(HOLD + ALONE, 12, 15 * MEGABYTE) as crowd:
        crowd.wait()
        answer, took = as_user("alice", call)
    must(answer and "status" in answer, f"it got {answer}")
    must(took < ANSWERED, f"it waited {took:.1f} s")
    return f"answered in {took * 1000:.0f} ms"


@tries("makes three calls of 15 MB in each of 12 processes of alice's", "bob and another program of hers are answered")
def complete():
    fresh()
    quiet = p99("bob")
    with Crowd(CALL + ALONE, 12, 15 * MEGABYTE) as crowd:
        crowd.wait()
        took = max(asks("alice") for _ in range(5))
        with Pace("bob") as pace:
            must(crowd.process.wait(timeout=60) == 0, "the attempt itself failed")
    return f"alice waited at most {took * 1000:.0f} ms; {paced(pace.p99, quiet)}"


def changing(program, *more):
    """Has the program start 12 processes of a changing executable at once, and returns bob's percentiles."""
    fresh()
    quiet = p99("bob")
    with Crowd(CHANGE + program, 12, 240 * MEGABYTE, *more) as crowd:
        crowd.wait()
        waited = max(asks("bob") for _ in range(8))
        crowded = p99("bob")
        must(crowd.process.poll() is None, "the attempt itself failed")
    busy = busy_p99("bob", "alice", 12)
    return f"bob waited at most {waited * 1000:.0f} ms for his first answer; {paced(crowded, quiet, busy)}"


@tries("calls from 12 processes of a changing executable of 240 MB", "bob's programs are identified, and answered")
def executables():
    return changing(ALONE)


@tries("does so from each of 12 of alice's sub-uids", "bob's programs are identified, and answered")
def executables_of_uids():
    return changing(SUBUIDS, 12, sub_uids())


run()
