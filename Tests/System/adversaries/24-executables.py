"""a user whose programs' executables change while the broker checks them"""

from fixture.broker import busy_p99, fresh, p99, paced
from fixture.crowd import ALONE, SUBUIDS, Crowd, asks, sub_uids
from fixture.verdict import must, run, tries

MEGABYTE = 1 << 20
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
