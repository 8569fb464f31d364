"""an app that fills the disk with photos"""

import json
import os
import subprocess
import sys

from fixture.accounts import start
from fixture.broker import STATE, Pace, admin, busy_p99, fresh, p99, paced, wait_for
from fixture.person import PASSWORD_PROMPT, Agent, add_contact
from fixture.verdict import must, run, tries

SETTINGS = "/etc/contactbroker/contactbroker.toml"
BOOK = STATE + "/users/1000"
# In MB, as in the settings.
PER_BOOK = 64
PER_APP = 40
# Maximum MB of the write-ahead log while saves arrive, and of everything else in alice's book, with its indexes.
LOG = 128 + 16
REST = 8
PHOTOS = 60

# Each process of an interpreter counts as a separate app. In the input, PHOTO stands for a photo of 7 MB in base64.
APP = """
import base64, json, os, sys
from fixture.varlink import APPS, Connection, attempt
connection = Connection(APPS, 60)
photo = base64.b64encode(os.urandom(7 << 20))
for line in sys.stdin:
    method, parameters = json.loads(line)
    call = json.dumps({"method": "io.contactbroker.Contacts." + method, "parameters": parameters})
    # To encode or even to copy the photo each time would keep a processor busy.
    before, *after = call.encode().split(b"PHOTO")
    for part in (before, *(part for each in after for part in (photo, each)), bytes(1)):
        connection.write(part)
    print(json.dumps(attempt(connection.receive)), flush=True)
"""


class App:
    def __init__(self):
        self.process = start(
            "alice", [sys.executable, "-c", APP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.added = []

    def ask(self, method, **parameters):
        self.process.stdin.write(json.dumps([method, parameters]) + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def save(self, *changes):
        self.ask("SaveContacts", changes=list(changes))
        return self.answer()

    def add(self, name, photo=True):
        contact = {"givenName": name, **({"imageData": "PHOTO"} if photo else {})}
        error, answer = self.save({"operation": "add", "contact": contact})
        if error is None:
            self.added += answer["identifiers"]
        return error, answer

    def delete(self, *identifiers):
        return self.save(*({"operation": "delete", "contact": {"identifier": each}} for each in identifiers))

    def fill(self):
        """Adds photos. Returns how many were saved, the limits named in the refusals, and the last refusal."""
        limits, last = set(), None
        for index in range(PHOTOS):
            error, answer = self.add(f"Photo {index}")
            if error is None:
                must(last is None, f"photo {index} was saved after a refusal")
                continue
            must(error == "LimitExceeded", f"{error} {answer}")
            limits.add(answer["limit"])
            last = answer
            must(used() <= PER_BOOK + LOG, f"{used()} MB in {BOOK}")
        return len(self.added), limits, last


def used():
    """Returns the total size of the files of alice's book, in MB."""
    sizes = [os.stat(os.path.join(BOOK, name)).st_size for name in os.listdir(BOOK)]
    return sum(sizes) >> 20


def share(app, name):
    app.ask("RequestContacts", query=name)
    person.wait("looks for")
    person.approve("s")
    # An app's first contact needs a second confirmation.
    if person.wait("Only this contact", "You shared", PASSWORD_PROMPT) == "Only this contact":
        person.approve("y")
    person.give_password("alice", "You shared")
    error, answer = app.answer()
    must(error is None and len(answer["identifiers"]) == 1, f"{error} {answer}")


with open(SETTINGS, encoding="utf-8") as file:
    former = file.read()
with open(SETTINGS, "a", encoding="utf-8") as file:
    file.write(f"\n[limits]\naddress_book_mb = {PER_BOOK}\naddress_book_mb_per_app = {PER_APP}\n")
fresh()
before, quiet = used(), p99("bob")
person = Agent("alice")
first, second = App(), App()


@tries("(an administrator bounds address books; the person shares one contact with each of two apps)", "done")
def prepare():
    status = admin("GetStatus")["status"]
    must(status["addressBookLimitMB"] == PER_BOOK and status["addressBookLimitPerAppMB"] == PER_APP, str(status))
    share(first, "saga")
    share(second, "wilhelmina")
    return f"{PER_BOOK} MB for each book, {PER_APP} MB for each app; alice's book has {before} MB"


@tries(f"adds {PHOTOS} contacts with photos of 7 MB", f"about {PER_APP} MB are saved; then LimitExceeded says what to do")
def photos():
    with Pace("bob") as pace:
        saved, limits, last = first.fill()
    must(limits == {"addressBookPerApp"}, str(limits))
    must(2 <= saved <= 4, f"{saved} photos were saved")
    must("limits.address_book_mb_per_app" in last["reason"], str(last))
    wait_for(lambda: used() <= before + PER_APP + REST, "the write-ahead log is checkpointed")
    return (f"{saved} saved, {PHOTOS - saved} times LimitExceeded; the book's files have {used()} MB; "
            f"{paced(pace.p99, quiet, busy_p99('bob', 'alice', 1))}")


@tries("deletes one of them, then adds a small contact", "both work")
def deletes():
    error, answer = first.delete(first.added.pop())
    must(error is None, f"delete: {error} {answer}")
    error, answer = first.add("Small", photo=False)
    must(error is None, f"add: {error} {answer}")
    return "both were saved"


@tries("a second app fills the rest of the address book", "LimitExceeded, which does not say how much others use")
def rest():
    saved, limits, last = second.fill()
    must(limits == {"addressBook"}, str(limits))
    must(not any(character.isdigit() for character in last["reason"]), str(last))
    wait_for(lambda: used() <= PER_BOOK + REST, "the write-ahead log is checkpointed")
    error, answer = second.add("Small", photo=False)
    must(error == "LimitExceeded", f"it can measure the rest at once: {error} {answer}")
    error, answer = second.delete(*second.added)
    must(error is None, f"delete: {error} {answer}")
    second.added = []
    return f"{saved} saved, then only that the book is full; the files have {used()} MB; its cards can be deleted"


@tries("(bob adds a contact meanwhile)", "saved: his address book is another one")
def bob():
    return add_contact("bob", "Bobs", "Friend")


@tries("(the contacts are deleted, and the settings restored)", "done")
def restore():
    for app in (first, second):
        if app.added:
            error, answer = app.delete(*app.added)
            must(error is None, f"{error} {answer}")
        app.process.kill()
        app.process.wait()
    person.close()
    with open(SETTINGS, "w", encoding="utf-8") as file:
        file.write(former)
    fresh()
    status = admin("GetStatus")["status"]
    must(status["addressBookLimitMB"] != PER_BOOK, str(status))
    return "restored"


run()
