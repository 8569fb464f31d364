"""Control of the installed broker, as root."""

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
# A name that is only in alice's book, and in no file that others may read.
MARKER = "Zyxgrob"


def command(*arguments, timeout=30):
    """Runs a program as root. Returns its exit code and its output of both streams."""
    ended = subprocess.run(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    return ended.returncode, ended.stdout.decode(errors="replace").strip()


def pid(unit=SERVICE):
    _, text = command("systemctl", "show", "--property=MainPID", "--value", unit)
    return int(text or 0)


def fresh():
    """Restarts the broker, so that no prompt or back-off that one attempt caused helps against the next."""
    # systemd would treat so many restarts as a service that keeps failing.
    command("systemctl", "reset-failed")
    status, said = command("systemctl", "restart", SERVICE)
    if status and not os.path.exists("/usr/lib/systemd/system/" + SERVICE):
        raise NotBuilt(SERVICE)
    if status:
        raise RuntimeError(f"{SERVICE} does not start")
    wait_for(lambda: attempt(admin, "GetStatus")[0] is None, "the broker answers root")


def wait_for(condition, words, timeout=20):
    """Polls until the condition is true: there is no event to wait for."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"timed out waiting for: {words}")
        time.sleep(0.02)
    return found


def pending(uid):
    return admin("ListPending", uid=uid)["prompts"]


class Asking:
    """A program that requests access and waits, and the prompt that the broker opened for it."""

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
        """What the program printed by its end."""
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
    """The strength and the app identifier of the program's prompt, or `None` and what it got instead."""
    fresh()
    with Asking(user, arguments, uid, **options) as asking:
        if asking.prompt:
            return asking.prompt.get("strength"), asking.prompt.get("app") or asking.prompt.get("displayName")
        said = " ".join(asking.said().split())
        # The program was refused at the socket, or denied without a prompt, or it rejected the broker because the broker's
        # user has no UID in its namespace. Anything else means that the attempt did not work.
        no = ("closed", "AccessDenied", "restricted", "denied", "hung up", "neither the system's contact broker nor yours")
        if not any(word in said for word in no):
            raise RuntimeError(f"it did not request access: {said}")
        return None, said


def app_calls(*calls):
    """Makes these calls one after the other on one connection, in the current process."""
    connection, answers = Connection(APPS), []
    for method, parameters in calls:
        answers.append(attempt(connection.call, "io.contactbroker.Contacts." + method, parameters))
    return answers


def secrets(text):
    """The words of alice's book that the text contains."""
    return [word for word in (MARKER, "Lindqvist", "Okafor") if word in str(text)]
