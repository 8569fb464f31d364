"""a program that floods the person with prompts"""

import os
import subprocess
import sys
import time

from fixture.accounts import as_user, start
from fixture.broker import CALLER, REQUEST_ACCESS, Pace, admin, busy_p99, fresh, p99, paced, pending, wait_for
from fixture.person import REFUSAL, Agent, NotShown
from fixture.varlink import APPS, attempt
from fixture.verdict import must, run, tries

CROWD = 100
MOST = 4
SCREENS = 8
ASKS = "asks to see your contacts"
WAITS = "asks too, after many others"


def crowd(programs):
    """Has all programs request access at once. Returns the processes, and the largest number of open prompts."""
    running = [
        start("alice", [program, APPS, REQUEST_ACCESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
              stderr=subprocess.STDOUT) for program in programs]
    most, end = 0, time.monotonic() + 20
    while time.monotonic() < end and sum(each.poll() is None for each in running) > MOST:
        most = max(most, len(pending(1000)))
    most = max(most, len(pending(1000)))
    return running, most


def finish(running):
    told = []
    for each in running:
        if each.poll() is None:
            each.kill()
        told.append(each.communicate()[0].decode(errors="replace"))
    return told


def copies_at(*folders):
    """Creates copies of the caller at other paths, each with a different hash. Returns their paths."""
    paths = [f"{folder}/app{index}" for folder in folders for index in range(CROWD)]

    def lay():
        with open(CALLER, "rb") as file:
            program = file.read()
        for index, path in enumerate(paths):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(program + index.to_bytes(4, "big"))
            os.chmod(path, 0o755)

    as_user("alice", lay)
    return paths


# Keeps 12 of the copies asking until its standard input ends, and kills those that are not refused. Prints how many have asked.
AGAIN = f"""
import select, subprocess, sys, time
running, count = [], 0
while not select.select([sys.stdin], [], [], 0.001)[0]:
    for started, each in running:
        if time.monotonic() - started > 0.5:
            each.kill()
    running = [(started, each) for started, each in running if each.poll() is None]
    while len(running) < 12:
        path = "/home/alice/copies/app%d" % (count % {CROWD})
        running.append((time.monotonic(), subprocess.Popen(
            [path, "{APPS}", '{REQUEST_ACCESS}'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)))
        count += 1
for _, each in running:
    each.kill()
    each.wait()
print(count)
"""


def ask(program):
    return start(
        "alice", [*program, APPS, REQUEST_ACCESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)


@tries("requests access from a hundred processes of one program", "one prompt; the other requests get TooManyPrompts")
def processes():
    fresh()
    with Agent("alice") as person:
        running, most = crowd([CALLER] * CROWD)
        person.wait(ASKS)
        told = finish(running)
    must(most <= 1, f"{most} prompts were open at once")
    return f"at most {most} open; {sum('TooManyPrompts' in each for each in told)} of {CROWD} got TooManyPrompts"


@tries("requests access from a hundred copies at a hundred paths at once", "four prompts at most for all of them")
def paths():
    programs = copies_at("/home/alice/copies")
    fresh()
    with Agent("alice") as person:
        running, most = crowd(programs)
        person.wait(ASKS)
        told = finish(running)
    must(0 < most <= MOST, f"{most} prompts were open at once")
    return f"at most {most} open; {sum('TooManyPrompts' in each for each in told)} of {CROWD} got TooManyPrompts"


@tries("requests access from copies at other paths one after the other", "the screen eight times, then only lines")
def one_by_one():
    fresh()
    screens = lines = 0
    with Agent("alice") as person:
        for index in range(SCREENS + 3):
            person.press("")
            asking = ask([f"/home/alice/copies/app{index}"])
            try:
                if person.wait(ASKS, WAITS) == ASKS:
                    screens += 1
                    person.press(REFUSAL)
                    person.wait("You denied")
                else:
                    lines += 1
            finally:
                finish([asking])
    must(screens == SCREENS and lines == 3, f"{screens} took the screen, {lines} were lines")
    return f"{screens} took the screen, then {lines} were lines"


@tries("opens prompts under many paths and withdraws each at once", "after two, each is held back longer")
def flicker():
    fresh()
    shown, seconds = 0, 20
    end = time.monotonic() + seconds
    with Agent("alice") as person:
        for index in range(CROWD):
            left = end - time.monotonic()
            if left <= 0:
                break
            person.press("")
            # The first copies were denied above.
            asking = ask([f"/home/alice/copies/app{CROWD - 1 - index}"])
            try:
                person.wait(ASKS, WAITS, timeout=left)
                shown += 1
            except NotShown:
                pass
            finally:
                finish([asking])
    # The prompts appear at 0, 0, 2, 6 and 14 seconds at the earliest.
    must(0 < shown <= 5, f"{shown} prompts appeared in {seconds} s")
    return f"{shown} prompts appeared in {seconds} s"


@tries("is refused in a mount namespace of its own, at the path of another program", "that program need not wait")
def victim():
    fresh()
    inside = ["bwrap", "--unshare-user", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--bind",
              "/run/contactbroker", "/run/contactbroker", "--", CALLER]
    with Agent("alice") as person:
        for _ in range(2):
            person.press("")
            asking = ask(inside)
            person.wait(ASKS)
            person.press(REFUSAL)
            person.wait("You denied")
            finish([asking])
        person.press("")
        asking = ask([CALLER])
        try:
            person.wait(ASKS)
        finally:
            finish([asking])
    return "it was asked about at once"


@tries("floods alice's queue while bob's program requests access", "bob's prompt opens, and root is answered at once")
def fair():
    fresh()
    with Agent("alice") as person:
        running, _ = crowd([f"/home/alice/copies/app{index}" for index in range(CROWD)])
        before = len(pending(1000))
        picking = start("bob", [CALLER, APPS, REQUEST_ACCESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        bobs = wait_for(lambda: pending(1001), "bob's prompt")
        asked = time.monotonic()
        error, status = attempt(admin, "GetStatus")
        took = time.monotonic() - asked
        finish(running + [picking])
    must(before <= MOST and len(bobs) == 1, f"{before} of alice's, {len(bobs)} of bob's")
    must(error is None and took < 1, f"the administrator waited {took:.1f} s")
    return f"bob's prompt is open besides alice's {before}; root was answered in {took * 1000:.0f} ms"


@tries("requests access from a hundred copies again and again, while bob works", "bob is answered all the time")
def again():
    fresh()
    quiet = p99("bob")
    with Agent("alice") as person:
        asking = start("alice", [sys.executable, "-c", AGAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with Pace("bob") as pace:
            end = time.monotonic() + 6
            while time.monotonic() < end:
                person.read(0.1)
        rounds = asking.communicate()[0].strip()
    return f"{rounds} requests; {paced(pace.p99, quiet, busy_p99('bob', 'alice', 12))}"


run()
