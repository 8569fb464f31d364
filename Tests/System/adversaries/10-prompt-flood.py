"""a program that floods the person with prompts"""

import os
import subprocess
import time

from fixture.accounts import as_user, start
from fixture.broker import CALLER, REQUEST_ACCESS, admin, fresh, pending, wait_for
from fixture.person import Agent
from fixture.varlink import APPS, attempt
from fixture.verdict import must, run, tries

CROWD = 100
MOST = 4


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


@tries("requests access from a hundred processes of one program", "four prompts at most; other requests join one or get TooManyPrompts")
def copies():
    fresh()
    with Agent("alice") as person:
        running, most = crowd([CALLER] * CROWD)
        person.wait("asks to see your contacts")
        told = finish(running)
    must(most <= MOST, f"{most} prompts were open at once")
    return f"at most {most} open; {sum('TooManyPrompts' in each for each in told)} of {CROWD} got TooManyPrompts"


@tries("requests access from a hundred copies at a hundred paths", "four prompts at most for all of them")
def paths():
    def lay():
        os.makedirs("/home/alice/copies", exist_ok=True)
        with open(CALLER, "rb") as file:
            program = file.read()
        for index in range(CROWD):
            path = f"/home/alice/copies/app{index}"
            with open(path, "wb") as file:
                # Each copy also has a different hash.
                file.write(program + index.to_bytes(4, "big"))
            os.chmod(path, 0o755)

    as_user("alice", lay)
    fresh()
    with Agent("alice") as person:
        running, most = crowd([f"/home/alice/copies/app{index}" for index in range(CROWD)])
        person.wait("asks to see your contacts")
        must(0 < most <= MOST, f"{most} prompts were open at once")

        # The person denies one. All copies share one back-off, which starts now.
        shown = len(pending(1000))
        person.press("d")
        person.wait("did not allow")
        told = finish(running)
        fresh_ones, most_then = crowd([f"/home/alice/copies/app{index}" for index in range(CROWD)])
        told_then = finish(fresh_ones)
    refused = sum("TooManyPrompts" in each for each in told_then)
    must(refused >= CROWD - MOST, f"after a denial only {refused} got TooManyPrompts")
    return (f"at most {most} open, {sum('TooManyPrompts' in each for each in told)} got TooManyPrompts; "
            f"after one denial {refused} of {CROWD}")


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


run()
