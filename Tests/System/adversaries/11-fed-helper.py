"""a caller whose files are made to hang or mislead the helper"""

import os
import shutil
import signal
import subprocess
import sys
import time

from fixture.accounts import as_user, run as run_as, start
from fixture.broker import CALLER, HELPER, SERVICE, command, fresh, pid
from fixture.varlink import APPS
from fixture.verdict import NotBuilt, must, run, tries

fresh()
# Maximum seconds until an unidentifiable caller is refused, and until another user's call is answered meanwhile.
TURNED_AWAY, ANSWERED = 5, 2
AUTHORIZATION = '{"method":"io.contactbroker.Contacts.GetAuthorization"}'
# The calling program, with its own namespaces, mounts, root and .flatpak-info.
WORLD = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def own_namespaces():
    uid, gid = os.getuid(), os.getgid()
    check(libc.unshare(0x10000000 | 0x20000))
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    check(libc.mount(b"none", b"/", None, 0x44000, None))
from fixture.varlink import Connection, attempt
apps = os.open("/run/contactbroker/apps", os.O_PATH)
own_namespaces()
"""
ASK = """
os.fchdir(apps)
print(attempt(lambda: Connection("io.contactbroker.Contacts", 15).call("io.contactbroker.Contacts.GetAuthorization")), flush=True)
"""
SMALL_ROOT = """
os.makedirs("/tmp/root", exist_ok=True)
check(libc.mount(b"root", b"/tmp/root", b"tmpfs", 0, None))
for name in ("usr", "srv", "run"):
    os.mkdir("/tmp/root/" + name)
    check(libc.mount(b"/" + name.encode(), b"/tmp/root/" + name.encode(), None, 0x5000, None))
for name in ("lib", "lib64", "bin"):
    os.symlink("usr/" + name, "/tmp/root/" + name)
"""
ASK_INSIDE = """
os.chroot("/tmp/root")
os.chdir("/")
os.execv("/srv/test/caller", ["caller", "/run/contactbroker/apps/io.contactbroker.Contacts",
    '{"method":"io.contactbroker.Contacts.GetAuthorization"}'])
"""


def asks(program, words):
    """Runs the program as alice, while bob calls and must be answered in time. Returns how long each call took."""
    helper, daemon = pid(HELPER), pid(SERVICE)
    began = time.monotonic()
    process = start("alice", [sys.executable, "-c", program] if isinstance(program, str) else program,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    slowest = 0.0
    try:
        while process.poll() is None and time.monotonic() - began < 20:
            asked = time.monotonic()
            status, said = run_as("bob", [CALLER, APPS, AUTHORIZATION], timeout=10)
            slowest = max(slowest, time.monotonic() - asked)
            must("notDetermined" in said, f"bob got {said!r} meanwhile")
    finally:
        took = time.monotonic() - began
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        said = process.communicate()[0].decode(errors="replace").strip()
    must(took < TURNED_AWAY, f"{words}: no answer for {took:.1f} s")
    must(slowest < ANSWERED, f"{words}: bob waited {slowest:.1f} s meanwhile")
    must("Traceback" not in said, f"the attempt itself failed: {said[-300:]}")
    must(pid(SERVICE) == daemon, "the daemon ended")
    return f"{said.splitlines()[-1] if said else 'ended'} after {took * 1000:.0f} ms; bob at most {slowest * 1000:.0f} ms"


def info(words, make):
    program = WORLD + SMALL_ROOT + make + ASK_INSIDE
    got = asks(program, words)
    must("secret" not in got and "root:" not in got, got)
    return got


@tries("(has its own root without a /.flatpak-info)", "answered: the namespaces alone are no reason to refuse")
def nothing():
    got = info("nothing", "")
    must("notDetermined" in got, got)
    return got


@tries("makes its /.flatpak-info a FIFO", "refused or unverified, in time")
def fifo():
    return info("FIFO", "os.mkfifo('/tmp/root/.flatpak-info')")


@tries("makes its /.flatpak-info a link to a file that only root may read", "the link is not followed")
def symlink():
    return info("link", "os.symlink('/proc/1/root/etc/shadow', '/tmp/root/.flatpak-info')")


@tries("makes its /.flatpak-info a folder", "refused or unverified, in time")
def folder():
    return info("folder", "os.mkdir('/tmp/root/.flatpak-info')")


@tries("makes its /.flatpak-info 1 GB large", "only a bounded part is read")
def huge_info():
    return info("1 GB", "file = open('/tmp/root/.flatpak-info', 'wb'); file.truncate(1 << 30); file.close()")


@tries("makes its /.flatpak-info a device", "the device is not opened")
def device():
    return info("device", """
file = open('/tmp/root/.flatpak-info', 'w'); file.close()
check(libc.mount(b'/dev/zero', b'/tmp/root/.flatpak-info', None, 0x1000, None))
""")


@tries("has a root on a file system that never answers", "refused: the helper looks up nothing there")
def hanging_root():
    program = WORLD + """
import threading
from fixture.slowfs import SlowFileSystem, ROOT
os.makedirs("/tmp/slow", exist_ok=True)
system = SlowFileSystem("/tmp/slow", b"")
threading.Thread(target=system.serve, args=(lambda name, process: name == "LOOKUP",), daemon=True).start()
os.chroot("/tmp/slow")
""" + ASK + "\nos._exit(0)\n"
    return asks(program, "hanging root")


@tries("has its executable on a file system that stops answering", "refused or unverified, in time")
def hanging_executable():
    program = WORLD + """
import threading, select
from fixture.slowfs import SlowFileSystem
os.makedirs("/tmp/slow", exist_ok=True)
served = {0, os.getpid()}
# Other processes that open or read it wait forever. 0 is the kernel itself.
system = SlowFileSystem("/tmp/slow", open("/srv/test/caller", "rb").read())
threading.Thread(target=system.serve, args=(lambda name, process: process not in served,), daemon=True).start()
reading, writing = os.pipe()
go, told = os.pipe()
child = os.fork()
if child == 0:
    os.read(go, 1)
    os.dup2(writing, 1)
    os.execv("/tmp/slow/program", ["program", "/run/contactbroker/apps/io.contactbroker.Contacts",
        '{"method":"io.contactbroker.Contacts.GetAuthorization"}'])
served.add(child)
os.write(told, b"x")
os.close(writing)
print(os.read(reading, 1000).decode().strip() if select.select([reading], [], [], 15)[0] else "no answer", flush=True)
os._exit(0)
"""
    return asks(program, "hanging executable")


@tries("has an executable of 10 GB", "not read to its end; answered in time")
def large_executable():
    def make():
        shutil.copyfile(CALLER, "/home/alice/large")
        os.truncate("/home/alice/large", 10 << 30)
        os.chmod("/home/alice/large", 0o755)

    as_user("alice", make)
    try:
        return asks(["/home/alice/large", APPS, AUTHORIZATION], "10 GB")
    finally:
        os.unlink("/home/alice/large")


@tries("starts nine such programs at once", "bob is answered meanwhile")
def crowd():
    def make():
        for index in range(10):
            shutil.copyfile(CALLER, f"/home/alice/large{index}")
            os.truncate(f"/home/alice/large{index}", 10 << 30)
            os.chmod(f"/home/alice/large{index}", 0o755)

    as_user("alice", make)
    others = [start("alice", [f"/home/alice/large{index}", APPS, AUTHORIZATION], stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL) for index in range(1, 10)]
    slowest = 0.0
    try:
        for _ in range(10):
            asked = time.monotonic()
            status, said = run_as("bob", [CALLER, APPS, AUTHORIZATION], timeout=10)
            slowest = max(slowest, time.monotonic() - asked)
            must("notDetermined" in said, f"bob got {said!r}")
    finally:
        for each in others:
            each.kill()
            each.wait()
        for index in range(10):
            os.unlink(f"/home/alice/large{index}")
    must(slowest < ANSWERED, f"bob waited {slowest:.1f} s")
    return f"bob was answered within {slowest * 1000:.0f} ms"


@tries("kills the helper (as root)", "no caller is served unidentified; the helper restarts")
def killed():
    number = pid(HELPER)
    if not number:
        raise NotBuilt(HELPER)
    os.kill(number, signal.SIGKILL)
    status, said = run_as("bob", [CALLER, APPS, AUTHORIZATION], timeout=10)
    must("notDetermined" in said or "closed" in said, said)
    end = time.monotonic() + 10
    while "notDetermined" not in said and time.monotonic() < end:
        status, said = run_as("bob", [CALLER, APPS, AUTHORIZATION], timeout=10)
    must("notDetermined" in said, f"callers are no longer identified: {said}")
    return "callers are refused until the helper is back; it is back"


@tries("stops the helper with SIGSTOP (as root)", "callers are refused; no caller is served unidentified")
def stopped():
    if not pid(HELPER):
        raise NotBuilt(HELPER)
    # The parent and all its worker processes.
    command("systemctl", "kill", "--signal=SIGSTOP", HELPER)
    try:
        shutil.copyfile(CALLER, "/home/bob/other")
        os.chmod("/home/bob/other", 0o755)
        began = time.monotonic()
        status, said = run_as("bob", ["/home/bob/other", APPS, AUTHORIZATION], timeout=15)
        took = time.monotonic() - began
    finally:
        command("systemctl", "kill", "--signal=SIGCONT", HELPER)
        os.unlink("/home/bob/other")
    must("closed" in said or status == "no end", f"it got {said!r}")
    must(status != "no end", "it waited 15 s")
    return f"refused after {took:.1f} s"


run()
