"""Runs code and programs as other users, with their groups and none of root's privileges."""

import ctypes
import json
import os
import pwd
import select
import signal
import subprocess
import sys
import time
import traceback

PR_SET_DUMPABLE = 4


def environment(user):
    entry = pwd.getpwnam(user)
    return {
        "HOME": entry.pw_dir, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "xterm",
        "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": f"/run/user/{entry.pw_uid}", "PYTHONPATH": "/srv/test",
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path=/run/user/{entry.pw_uid}/bus",
    }


def become(user, extra_groups=(), group=None):
    """Makes a child process run as the user; it cannot become root again."""
    entry = pwd.getpwnam(user)
    os.initgroups(user, entry.pw_gid)
    if extra_groups:
        os.setgroups(os.getgroups() + list(extra_groups))
    gid = entry.pw_gid if group is None else group
    os.setresgid(gid, gid, gid)
    os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
    # After a change of user a process is not dumpable; one that the user started is.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    os.environ.clear()
    os.environ.update(environment(user))
    os.chdir("/")


class Failed(Exception):
    """The child failed before it returned a result."""


def as_user(user, function, *arguments, timeout=60, group=None):
    """Calls the function in a process of this user and returns its result, which must be convertible to JSON."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            os.setsid()
            become(user, group=group)
            result = {"result": function(*arguments)}
        except BaseException as error:
            traceback.print_exc()
            result = {"failed": f"{type(error).__name__}: {error}"}
        with os.fdopen(writing, "w") as out:
            json.dump(result, out)
        os._exit(0)
    os.close(writing)
    data, end = b"", time.monotonic() + timeout
    try:
        while True:
            ready, _, _ = select.select([reading], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Failed(f"not done within {timeout} s")
            part = os.read(reading, 65536)
            if not part:
                break
            data += part
    finally:
        os.close(reading)
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(child, 0)
    if not data:
        raise Failed("it ended without a result")
    answer = json.loads(data)
    if "failed" in answer:
        raise Failed(answer["failed"])
    return answer["result"]


def start(user, arguments, **options):
    """Starts a program as this user, in a new session without a terminal."""
    environ = environment(user)
    environ.update(options.pop("env", {}))
    return subprocess.Popen(
        arguments, env=environ, cwd="/", start_new_session=True,
        preexec_fn=lambda: become_for_exec(user, environ), **options)


def become_for_exec(user, environ):
    become(user)
    os.environ.clear()
    os.environ.update(environ)


def run(user, arguments, timeout=60, **options):
    """Runs a program as this user. Returns its exit code, or "no end", and its output of both streams."""
    process = start(user, arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    try:
        out, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
        return "no end", out.decode(errors="replace")
    return process.returncode, out.decode(errors="replace")


def in_user_manager(user, arguments, unit=None):
    """The command that runs a program in a scope of the user's manager, as desktop sessions do."""
    name = [f"--unit={unit}"] if unit else []
    return ["systemd-run", "--user", "--scope", "--quiet", "--collect", *name, "--", *arguments]
