"""a program of the same user that attacks the running agent"""

import ctypes
import glob
import os
import pwd
import re
import signal
import time

from fixture.accounts import as_user, run as run_as
from fixture.broker import CALLER, REQUEST_ACCESS, command, fresh, wait_for
from fixture.person import Agent, PASSWORD_PROMPT, Terminal, WAITING
from fixture.varlink import APPS
from fixture.verdict import must, run, tries

PIDFD_GETFD, PIDFD_OPEN = 438, 434
libc = ctypes.CDLL(None, use_errno=True)
fresh()


def agent_pid():
    for path in glob.glob("/proc/[0-9]*/exe"):
        try:
            if os.readlink(path) == "/usr/bin/contact-agent":
                return int(path.split("/")[2])
        except OSError:
            pass
    return None


def reach(number):
    """Tries every way to read or control another process. Returns those that worked."""
    through = []
    if libc.ptrace(16, number, 0, 0) == 0:
        through.append("PTRACE_ATTACH")
    if libc.ptrace(0x4206, number, 0, 0) == 0:
        through.append("PTRACE_SEIZE")
    for name in ("mem", "maps", "environ", "fd", "root/etc", "cwd/.", "auxv", "stack"):
        try:
            path = f"/proc/{number}/{name}"
            file = os.open(path, os.O_RDONLY)
            os.listdir(file) if os.path.isdir(path) else os.read(file, 1)
            through.append(name)
        except OSError:
            pass
    try:
        os.close(os.open(f"/proc/{number}/mem", os.O_RDWR))
        through.append("mem, writing")
    except OSError:
        pass
    pidfd = libc.syscall(PIDFD_OPEN, number, 0)
    for fd in range(16):
        if libc.syscall(PIDFD_GETFD, pidfd, fd, 0) >= 0:
            through.append(f"pidfd_getfd({fd})")
    local = ctypes.create_string_buffer(8)

    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    here, there = Vector(ctypes.addressof(local), 8), Vector(0x400000, 8)
    if libc.process_vm_readv(number, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0 or ctypes.get_errno() == 14:
        through.append("process_vm_readv")
    return through


@tries("tries ptrace, /proc/PID, pidfd_getfd and process_vm_readv", "none works")
def reaches():
    with Agent("alice"):
        number = wait_for(agent_pid, "the agent runs")
        through = as_user("alice", reach, number)
    must(not through, ", ".join(through))
    return "none works: the agent is not dumpable"


@tries("(root reads the agent's group IDs)", "the agent has dropped its group permanently")
def dropped():
    with Agent("alice"):
        number = wait_for(agent_pid, "the agent runs")
        with open(f"/proc/{number}/status") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    gid = str(pwd.getpwnam("alice").pw_gid)
    must(status["Gid"].split() == [gid] * 4, f"Gid {status['Gid']}")
    return f"all four group ids are alice's own ({gid})"


@tries("sets LD_PRELOAD, LD_LIBRARY_PATH and LD_AUDIT before the agent starts", "nothing is loaded into the agent, or into what it starts")
def preload():
    marks = "/home/alice/marks"
    as_user("alice", lambda: os.makedirs(marks, exist_ok=True))
    # This shows that a program without privilege loads the library.
    run_as("alice", [CALLER], env={"LD_PRELOAD": "/srv/test/preload.so", "PRELOAD_MARKS": marks})
    must(len(os.listdir(marks)) == 1, "the library does not work, so nothing was tested")
    variables = f"LD_PRELOAD=/srv/test/preload.so LD_LIBRARY_PATH=/srv/test LD_AUDIT=/srv/test/preload.so PRELOAD_MARKS={marks}"
    with Terminal("alice", f"bash -c '{variables} exec contact-agent'") as terminal:
        terminal.wait(PASSWORD_PROMPT, WAITING)
        loaded = {open(os.path.join(marks, name)).read() for name in os.listdir(marks)}
    inside = {path for path in loaded if "agent" in path}
    must(not inside, f"loaded into {inside}")
    return "not loaded into contact-agent, nor into pkttyagent"


@tries("starts the agent under ptrace", "the agent does not get its group")
def traced():
    def trace():
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            master, slave = os.openpty()
            for fd in (0, 1, 2):
                os.dup2(slave, fd)
            import fcntl, termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            libc.ptrace(0, 0, 0, 0)
            os.execv("/usr/bin/contact-agent", ["contact-agent"])
        end = time.monotonic() + 5
        groups = set()
        while time.monotonic() < end:
            try:
                pid, status = os.waitpid(child, os.WNOHANG)
            except ChildProcessError:
                break
            if pid and not os.WIFSTOPPED(status):
                break
            if pid:
                libc.ptrace(7, child, 0, 0 if os.WSTOPSIG(status) == signal.SIGTRAP else os.WSTOPSIG(status))
            try:
                with open(f"/proc/{child}/status") as file:
                    groups |= {line.split()[2] for line in file if line.startswith("Gid:")}
            except OSError:
                pass
            time.sleep(0.01)
        try:
            os.kill(child, signal.SIGKILL)
        except OSError:
            pass
        return sorted(groups)

    groups = as_user("alice", trace)
    must(groups == [str(pwd.getpwnam("alice").pw_gid)], f"effective groups seen: {groups}")
    return "it never had the group"


@tries("sets PATH, HOME, LANG, TERMINFO, bus and socket folders to its own", "the agent ignores them")
def variables():
    hostile = ("PATH=/home/alice/evil HOME=/home/alice/evil CONTACTBROKER_RUNTIME_DIR=/home/alice/evil "
               "XDG_RUNTIME_DIR=/home/alice/evil DBUS_SYSTEM_BUS_ADDRESS=unix:path=/home/alice/evil/bus "
               "TERMINFO=/home/alice/evil LANG=../../../home/alice/evil")

    def lay():
        os.makedirs("/home/alice/evil", exist_ok=True)
        with open("/home/alice/evil/pkttyagent", "w") as file:
            file.write("#!/bin/sh\ntouch /home/alice/evil/ran\n")
        os.chmod("/home/alice/evil/pkttyagent", 0o755)

    as_user("alice", lay)
    with Terminal("alice", f"bash -c '{hostile} exec /usr/bin/contact-agent'") as terminal:
        must(terminal.wait(PASSWORD_PROMPT, WAITING) == PASSWORD_PROMPT, "it serves without a password")
    must(not os.path.exists("/home/alice/evil/ran"), "it ran the attacker's pkttyagent")
    return "it uses the system's socket, bus and pkttyagent; it asks for the password"


@tries("pushes keys into the agent's terminal (TIOCSTI) from the same terminal session",
       "the kernel refuses; if it permits TIOCSTI, contactctl status says so")
def keys():
    result = "/home/alice/pushed"
    push = (f"import fcntl, os, termios; out = open('{result}', 'w')\n"
            "file = os.open('/dev/tty', os.O_RDWR)\n"
            "try: fcntl.ioctl(file, termios.TIOCSTI, b'q'); print('pushed', file=out)\n"
            "except OSError as error: print(error.strerror, file=out)\n")
    as_user("alice", lambda: open("/home/alice/push.py", "w").write(push))
    with Terminal("alice", "bash -c 'python3 /home/alice/push.py & wait; exec contact-agent'") as terminal:
        terminal.wait(PASSWORD_PROMPT, WAITING)
        with open(result) as file:
            got = file.read().strip()
    must(got, "the attempt was not made")
    with open("/proc/sys/dev/tty/legacy_tiocsti") as file:
        allows = file.read().strip() != "0"
    if not allows:
        must(got != "pushed", got)
        return got
    # The broker cannot prevent the attack, but reports that the kernel permits it.
    _, status = command("contactctl", "status", "--verbose")
    must(re.search(r"legacy TIOCSTI +1", status), f"{got}, and contactctl status does not report that the kernel permits it: {status}")
    return f"{got} (not promised if the kernel permits it; contactctl status reports that)"


@tries("starts a second agent, with the password", "the first one reports it")
def second():
    with Agent("alice") as first:
        with Agent("alice"):
            first.wait("Another contact-agent", timeout=10)
    return "the first agent shows that there is another"


@tries("requests access as the agent's own parent", "that agent does not show the prompt")
def kin():
    # The shell that starts the agent then becomes the caller. An agent must not answer for its own ancestor.
    with Terminal("alice", f"bash -c \"contact-agent & exec {CALLER} {APPS} '{REQUEST_ACCESS}'\"") as terminal:
        terminal.watch(6)
        shown = "asks to see" in terminal.everything
    must(not shown, "the agent was asked about its own parent")
    return "the prompt was not shown"


run()
