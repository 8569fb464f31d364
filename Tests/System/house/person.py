"""A person at a terminal: a program in a login session on a pseudo-terminal."""

import fcntl
import os
import pty
import pwd
import re
import select
import signal
import struct
import termios
import time

ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78]")


class NotShown(Exception):
    """The terminal did not show what it should have shown."""


class Terminal:
    """Runs a command in a session that pam_systemd registered, as after a login."""

    def __init__(self, user, command, rows=30, columns=110):
        self.output = b""
        self.mark = 0
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            # As login(1) does: the terminal belongs to the user.
            os.fchown(0, pwd.getpwnam(user).pw_uid, -1)
            os.environ.clear()
            os.environ.update({"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "xterm", "LANG": "C.UTF-8"})
            os.execv("/bin/su", ["su", "--login", user, "--session-command", command])
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, timeout):
        """Collects output; returns `False` at its end."""
        ready, _, _ = select.select([self.master], [], [], timeout)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.output += data
        return bool(data)

    @property
    def text(self):
        """The output since the last key, without escape sequences."""
        return ESCAPES.sub(b"", self.output[self.mark:]).decode(errors="replace")

    @property
    def everything(self):
        return ESCAPES.sub(b"", self.output).decode(errors="replace")

    def wait(self, *texts, timeout=20):
        """Waits until one of the texts is shown, and returns it."""
        end = time.monotonic() + timeout
        while True:
            shown = self.text
            for text in texts:
                if text in shown:
                    return text
            left = end - time.monotonic()
            if left <= 0 or not self.read(left):
                if any(text in self.text for text in texts):
                    continue
                raise NotShown(f"waited for {' or '.join(texts)!r}, but the screen shows: {' '.join(self.text.split())[-600:]!r}")

    def press(self, keys):
        self.mark = len(self.output)
        os.write(self.master, keys.encode())

    def type_password(self, word):
        """Types the password once the terminal's echo is off, as a person does. Earlier input would be echoed, and
        discarded when the echo is turned off."""
        end = time.monotonic() + 10
        while termios.tcgetattr(self.master)[3] & termios.ECHO:
            if time.monotonic() > end:
                raise NotShown("a password is asked for, but the terminal still echoes")
            self.watch(0.02)
        self.press(word + "\n")

    def approve(self, keys):
        """Presses keys after the time that the agent gives a person to read the prompt; it ignores earlier approvals."""
        self.watch(0.8)
        self.press(keys)

    def watch(self, seconds):
        """Collects output for some seconds."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.read(left):
            pass

    def wait_for_end(self, timeout=20):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise NotShown(f"it did not end; the screen shows: {' '.join(self.text.split())[-600:]!r}")

    def close(self):
        """Closes the terminal. su(1) and its session end with it; after 5 seconds it is killed."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
        end = time.monotonic() + 5
        while self.pid and not os.waitpid(self.pid, os.WNOHANG)[0]:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                break
            select.select([], [], [], 0.02)
        self.pid = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def password(user):
    return f"password of {user}"


PASSWORD_PROMPT = "Password:"
WAITING = "Waiting for apps"


class Agent(Terminal):
    """A person who runs the agent on their terminal and has typed their password."""

    def __init__(self, user, word=None, arguments=""):
        super().__init__(user, f"contact-agent {arguments}".strip())
        try:
            if self.wait(WAITING, PASSWORD_PROMPT) == PASSWORD_PROMPT:
                self.type_password(word or password(user))
                self.wait(WAITING)
            self.press("")
        except BaseException:
            self.close()
            raise

    def give_password(self, user, after):
        """Types the password if it is asked for, and waits for the text after it."""
        if self.wait(after, PASSWORD_PROMPT) == PASSWORD_PROMPT:
            self.type_password(password(user))
            self.wait(after)
