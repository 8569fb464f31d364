"""The installed broker, looked at and set back by root."""

import os
import subprocess
import time

from house.accounts import start
from house.varlink import APPS, Connection, admin, attempt
from house.verdict import NotBuilt

SERVICE = "contactbroker.service"
HELPER = "contactbroker-identify.service"
STATE = "/var/lib/contactbroker"
CALLER = "/srv/test/caller"
REQUEST_ACCESS = '{"method":"io.contactbroker.Contacts.RequestAccess"}'
AUTHORIZATION = '{"method":"io.contactbroker.Contacts.GetAuthorization"}'
# In alice's book, and in nothing that anybody else may read.
MARKER = "Zyxgrob"


def command(*arguments, timeout=30):
    """Runs a program as root; what it printed, both streams, and its exit code."""
    ended = subprocess.run(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    return ended.returncode, ended.stdout.decode(errors="replace").strip()


def pid(unit=SERVICE):
    _, text = command("systemctl", "show", "--property=MainPID", "--value", unit)
    return int(text or 0)


def fresh():
    """A broker that remembers no prompt and no back-off: one adversary's harm must not help to hold off the next."""
    # systemd would take so many restarts for a service that keeps failing.
    command("systemctl", "reset-failed")
    status, said = command("systemctl", "restart", SERVICE)
    if status and not os.path.exists("/usr/lib/systemd/system/" + SERVICE):
        raise NotBuilt(SERVICE)
    if status:
        raise RuntimeError(f"{SERVICE} does not start")
    wait_for(lambda: attempt(admin, "GetStatus")[0] is None, "the broker answers root")


def wait_for(condition, words, timeout=20):
    """Waits until something is so; there is nothing else here that could be waited on."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"never came: {words}")
        time.sleep(0.02)
    return found


def pending(uid):
    return admin("ListPending", uid=uid)["prompts"]


class Asking:
    """A program that asks for access and waits, and whom the broker takes it for."""

    def __init__(self, user, arguments, uid=1000, **options):
        self.uid = uid
        before = {each["cookie"] if "cookie" in each else str(each) for each in pending(uid)}
        self.process = start(
            user, arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.prompt = None
        end = time.monotonic() + 20
        while time.monotonic() < end and self.process.poll() is None and not self.prompt:
            for each in pending(uid):
                if str(each) not in before and each.get("cookie", "") not in before:
                    self.prompt = each
            time.sleep(0.02)

    def said(self, timeout=20):
        """What the program printed until its end."""
        out, _ = self.process.communicate(timeout=timeout)
        return out.decode(errors="replace").strip()

    def end(self):
        self.process.kill()
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def taken_for(user, arguments, uid=1000, **options):
    """The strength and the identifier under which a program's question waits, or what it was told instead."""
    fresh()
    with Asking(user, arguments, uid, **options) as asking:
        if asking.prompt:
            return asking.prompt.get("strength"), asking.prompt.get("app") or asking.prompt.get("displayName")
        said = " ".join(asking.said().split())
        # Turned away at the door, or told no without a question, or did not believe that a broker is there whose user has
        # no number in its namespace: anything else means that it could not try.
        no = ("closed", "AccessDenied", "restricted", "denied", "hung up", "neither the system's contact broker nor yours")
        if not any(word in said for word in no):
            raise RuntimeError(f"it did not ask: {said}")
        return None, said


def app_calls(*calls):
    """Makes these calls of an app, one after the other on one connection. In the process of whoever calls it."""
    connection, answers = Connection(APPS), []
    for method, parameters in calls:
        answers.append(attempt(connection.call, "io.contactbroker.Contacts." + method, parameters))
    return answers


def secrets(text):
    """Which words of alice's book stand in a text."""
    return [word for word in (MARKER, "Lindqvist", "Okafor") if word in str(text)]
