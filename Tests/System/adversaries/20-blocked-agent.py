"""a program of the same user that keeps the person's agent from starting"""

import subprocess

from fixture.accounts import start
from fixture.broker import fresh
from fixture.person import PASSWORD_PROMPT, WAITING, Agent, Terminal
from fixture.verdict import must, run, tries

fresh()

# Registers a polkit agent for every contact-agent as soon as it runs, on a terminal of its own.
SQUATTER = r'''
import os, pty, select, time
seen, held = set(), []
end = time.monotonic() + 40
while time.monotonic() < end:
    for name in os.listdir("/proc"):
        if not name.isdigit() or name in seen: continue
        try: program = open(f"/proc/{name}/comm").read().strip()
        except OSError: continue
        if program != "contact-agent":
            if program not in ("bash", "sh", "su"): seen.add(name)
            continue
        seen.add(name)
        child, master = pty.fork()
        if child == 0: os.execv("/usr/bin/pkttyagent", ["pkttyagent", "--process", name])
        held.append(master)
    for master in select.select(held, [], [], 0)[0]:
        try: os.read(master, 4096)
        except OSError: held.remove(master)
'''


@tries("starts six agents that wait for the password, and never types it", "the person's own agent is still asked for it")
def idle():
    others = []
    try:
        for _ in range(6):
            terminal = Terminal("alice", "contact-agent")
            others.append(terminal)
            terminal.wait(PASSWORD_PROMPT, "another agent of yours")
        with Agent("alice") as person:
            must(WAITING in person.everything, person.everything[-300:])
    finally:
        for each in others:
            each.close()
    return "the person's agent serves"


@tries("registers a polkit agent for the person's agent before its own password prompt does",
       "no password is needed less often, and the agent says what is wrong if it shows no prompt")
def squatted():
    thief = start("alice", ["python3", "-c", SQUATTER], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                  stderr=subprocess.STDOUT)
    try:
        for _ in range(5):
            with Terminal("alice", "contact-agent") as person:
                shown = person.wait(PASSWORD_PROMPT, "No password prompt", WAITING, timeout=20)
                must(shown != WAITING, "it serves without a password")
                if shown != PASSWORD_PROMPT:
                    return "the agent says that no password prompt has appeared"
    finally:
        thief.kill()
        thief.communicate()
    return "the agent's own prompt came first each time"


run()
