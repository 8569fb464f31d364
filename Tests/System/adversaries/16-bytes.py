"""a caller that sends invalid bytes, or none"""

import os
import signal
import subprocess
import time

from fixture.accounts import as_user, run as run_as
from fixture.broker import CALLER, SERVICE, command, fresh, pid, wait_for
from fixture.varlink import ADMIN, APPS, Closed, Connection, admin, attempt
from fixture.verdict import must, run, tries

fresh()
AUTHORIZATION = '{"method":"io.contactbroker.Contacts.GetAuthorization"}'


def resident():
    with open(f"/proc/{pid(SERVICE)}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) // 1024


@tries("sends a frame without an end to both open sockets", "the connection is closed; memory is bounded")
def endless():
    number, before = pid(SERVICE), resident()

    def send(path):
        connection = Connection(path, 10)
        try:
            for _ in range(40):
                connection.write(b"[" * (1 << 20))
            return attempt(connection.receive)[0]
        except (Closed, TimeoutError) as error:
            return "connection closed" if isinstance(error, Closed) else "no answer"

    got = as_user("bob", lambda: [send(APPS), send(ADMIN)])
    must(pid(SERVICE) == number, "the daemon ended")
    must(got == ["connection closed"] * 2, str(got))
    must(resident() - before < 100, f"{resident() - before} MB more")
    return f"closed, {max(0, resident() - before)} MB more"


@tries("sends what is not Varlink", "an error or a closed connection; the daemon keeps running")
def garbage():
    number = pid(SERVICE)

    def send():
        answers = set()
        for data in (b"\0", b"GET / HTTP/1.0\r\n\r\n\0", b"\xff\xfe\0", b"{}\0", b"null\0", b'{"method":1}\0',
                     b'{"method":"io.contactbroker.Contacts.FetchContacts","parameters":[]}\0', b"{" * 10000 + b"\0",
                     b'{"method":"' + b"x" * 100000 + b'"}\0'):
            connection = Connection(APPS, 10)
            connection.write(data)
            answers.add(attempt(connection.receive)[0])
        return sorted(map(str, answers))

    got = as_user("bob", send)
    must(pid(SERVICE) == number, "the daemon ended")
    must("no answer" not in got and "None" not in got, str(got))
    return ", ".join(got)


@tries("opens two thousand silent connections as bob", "alice and root are answered")
def silent():
    def hold():
        held = []
        for _ in range(2000):
            try:
                held.append(Connection(APPS, 1))
            except OSError:
                break
        _, asked = None, time.monotonic()
        return [len(held), os.getpid()]

    import threading
    script = ("import resource, time; resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))\n"
              "from fixture.varlink import *\nheld = []\n"
              "try:\n    held += [Connection(APPS, 2) for _ in range(2000)]\nexcept OSError: pass\n"
              "print('holding', flush=True); time.sleep(30)\n")
    from fixture.accounts import start
    import sys
    process = start("bob", [sys.executable, "-c", script], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        process.stdout.readline()
        asked = time.monotonic()
        status, said = run_as("alice", [CALLER, APPS, AUTHORIZATION], timeout=10)
        took = time.monotonic() - asked
        error = attempt(admin, "GetStatus")[0]
    finally:
        process.kill()
        process.communicate()
    must('"status"' in said and error is None, f"alice: {said!r}, root: {error}")
    must(took < 2, f"alice waited {took:.1f} s")
    return f"alice was answered in {took * 1000:.0f} ms, root too"


@tries("kills the daemon with SIGKILL (as root)", "it restarts; the next caller is answered")
def killed():
    number = pid(SERVICE)
    os.kill(number, signal.SIGKILL)
    wait_for(lambda: "status" in run_as("alice", [CALLER, APPS, AUTHORIZATION], timeout=10)[1], "the next caller is answered")
    must(pid(SERVICE) not in (0, number), "no new daemon")
    status, said = command("contactctl", "verify")
    must(status == 0, f"the audit is damaged: {said}")
    return "a new daemon answers; the audit is intact"


run()
