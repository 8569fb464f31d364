"""a program of the same user that reads files"""

import ctypes
import os

from fixture.accounts import as_user, run as run_as
from fixture.broker import HELPER, MARKER, SERVICE, STATE, pid
from fixture.verdict import NotBuilt, must, run, tries


def all_files():
    found = [os.path.join(folder, name) for folder, folders, files in os.walk(STATE) for name in folders + files]
    if not any(path.endswith("contacts.sqlite") for path in found):
        raise NotBuilt(f"no book below {STATE}")
    return [STATE] + found


def opened(paths):
    """The paths that this process can read, write, list or open by name."""
    through = []
    for path in paths:
        for words, flags in (("read", os.O_RDONLY), ("written", os.O_WRONLY), ("named", os.O_PATH)):
            try:
                os.close(os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK))
                # O_PATH on the state folder itself is permitted, but not on its contents.
                if not (path == STATE and words == "named"):
                    through.append(f"{path} can be {words}")
            except OSError:
                pass
    return through


@tries("opens every file below the state folder, as alice, bob and nobody", "none can be opened")
def state():
    paths = all_files()
    for user in ("alice", "bob", "nobody"):
        through = as_user(user, opened, paths)
        must(not through, f"{user}: {through}")
    return f"none of {len(paths)}"


@tries("checks the mode of each file, besides the folder's", "0600 and 0700, owned by contactbroker")
def each_mode():
    import pwd
    import stat
    wrong = []
    for path in all_files():
        status = os.lstat(path)
        wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
        if stat.S_IMODE(status.st_mode) & ~wanted or pwd.getpwuid(status.st_uid).pw_name != "contactbroker":
            wrong.append(f"{path} {stat.S_IMODE(status.st_mode):o}")
    must(not wrong, ", ".join(wrong))
    return f"all {len(all_files())}"


@tries("reads the memory, files and environment of daemon and helper below /proc", "nothing")
def processes():
    numbers = [number for number in (pid(SERVICE), pid(HELPER)) if number]
    if not numbers:
        raise NotBuilt(SERVICE)
    paths = [f"/proc/{number}/{name}" for number in numbers for name in ("mem", "maps", "environ", "auxv", "root/etc", "cwd/.", "fd", "map_files")]

    def reach():
        through = []
        for path in paths:
            try:
                file = os.open(path, os.O_RDONLY)
                if os.path.isdir(path):
                    os.listdir(file)
                else:
                    os.read(file, 1)
                through.append(path)
            except OSError:
                pass
        libc = ctypes.CDLL(None, use_errno=True)
        for number in numbers:
            if libc.ptrace(16, number, 0, 0) == 0:
                through.append(f"ptrace of {number}")
        return through

    for user in ("alice", "bob"):
        through = as_user(user, reach)
        must(not through, f"{user}: {through}")
    return f"nothing of {len(numbers)} processes"


@tries("crashes the broker or the helper, where the kernel pipes core dumps to a program (that ignores LimitCORE=0)",
       "no dump: neither is dumpable")
def cores():
    # The kernel gives /proc/PID of an undumpable process to root, whoever the process runs as.
    owners = {unit: os.stat(f"/proc/{number}/status").st_uid for unit in (SERVICE, HELPER) if (number := pid(unit))}
    must(set(owners) == {SERVICE, HELPER} and not any(owners.values()), f"owners of /proc/PID: {owners}")
    return "neither is dumpable"


@tries("searches all files that bob may read for a name from alice's book", "no file has it")
def elsewhere():
    status, said = run_as(
        "bob", ["grep", "-rlsF", "--devices=skip", MARKER, "/run", "/tmp", "/var", "/etc", "/home", "/dev/shm"], timeout=60)
    found = [line for line in said.splitlines() if line]
    must(status != "no end" and not found, f"{said}")
    return "in no file"


run()
