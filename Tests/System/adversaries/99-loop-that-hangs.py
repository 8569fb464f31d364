"""something that makes the broker's event loop hang

It stops the event loop's thread as a hanging loop would, and no other thread. This runs after 99-journal, which must find no
watchdog timeout.
"""

import ctypes
import os
import re

from fixture.broker import SERVICE, command, fresh, pid, wait_for
from fixture.varlink import admin, attempt
from fixture.verdict import must, run, tries

DROP_IN = "/run/systemd/system/contactbroker.service.d/soon.conf"
PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):  # The thread has ended.
        return ""


def event_loop(process):
    """The thread that waits for an event at the first listening socket, which is descriptor 3: sd_listen_fds(3)."""
    for thread in os.listdir(f"/proc/{process}/task"):
        waits = re.match(r"\d+ 0x([0-9a-f]+) ", read(f"/proc/{process}/task/{thread}/syscall"))
        if waits and re.search(r"^tfd: +3 ", read(f"/proc/{process}/fdinfo/{int(waits[1], 16)}"), re.MULTILINE):
            return int(thread)
    return None


def stop(thread):
    """Stops a thread by tracing it."""
    libc = ctypes.CDLL(None, use_errno=True)
    for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
        if libc.ptrace(request, thread, None, None) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    must(os.WIFSTOPPED(os.waitpid(thread, WALL)[1]), "the thread ended")


def ended(thread):
    """Whether the thread has ended. Until its tracer asks, systemd is not notified of the end of the process."""
    number, status = os.waitpid(thread, WALL | os.WNOHANG)
    return number == thread and not os.WIFSTOPPED(status)


def stopped(process):
    states = {int(each): read(f"/proc/{process}/task/{each}/status") for each in os.listdir(f"/proc/{process}/task")}
    return [thread for thread, state in states.items() if re.search(r"^State:\s+[tT]", state, re.MULTILINE)]


@tries("stops only the event loop's thread", "systemd misses the watchdog notification and restarts the broker")
def hangs():
    os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
    with open(DROP_IN, "w") as file:
        file.write("[Service]\nWatchdogSec=2\n")
    try:
        command("systemctl", "daemon-reload")
        fresh()
        before = pid()
        loop = wait_for(lambda: event_loop(before), "the event loop waits for events")
        stop(loop)
        must(stopped(before) == [loop], f"the event loop is {loop}, but these threads are stopped: {stopped(before)}")
        wait_for(lambda: ended(loop), "systemd ends the broker", timeout=40)
        wait_for(lambda: pid() not in (0, before), "another process of the broker", timeout=40)
        wait_for(lambda: attempt(admin, "GetStatus")[0] is None, "the broker answers root")
        _, text = command("journalctl", "--no-pager", "-b", "-q", "-u", SERVICE, "-g", "[Ww]atchdog timeout")
        must(text, "the journal does not say why it was restarted")
        found = attempt(admin, "VerifyAudit")[1]
        must(found and "brokenAt" not in found, f"the audit: {found}")
    finally:
        os.unlink(DROP_IN)
        command("systemctl", "daemon-reload")
    return f"restarted; {found['records']} audit records, all intact"


run()
