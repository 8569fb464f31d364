"""a user with many connections, sub-uids and unfinished calls"""

import time

from fixture.accounts import as_user
from fixture.broker import AUTHORIZATION, SERVICE, Pace, fresh, p99, paced, pid
from fixture.crowd import ALONE, ANSWERED, SUBUIDS, Crowd, asks, sub_uids
from fixture.varlink import APPS, Connection, admin, attempt
from fixture.verdict import must, run, tries

MEGABYTE = 1 << 20
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
def resident():
    with open(f"/proc/{pid(SERVICE)}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) // 1024


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


run()
