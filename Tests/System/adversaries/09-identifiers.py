"""an app that knows another app's identifiers"""

import json
import subprocess
import sys

from fixture.accounts import start
from fixture.broker import MARKER, fresh, secrets
from fixture.person import PASSWORD_PROMPT, Agent
from fixture.verdict import must, run, tries

# Two processes of one interpreter. Each process counts as a separate app.
APP = """
import json, sys
from fixture.varlink import APPS, Connection, attempt
connection = Connection(APPS, 60)
for line in sys.stdin:
    method, parameters = json.loads(line)
    print(json.dumps(attempt(connection.call, "io.contactbroker.Contacts." + method, parameters)), flush=True)
"""


class App:
    def __init__(self):
        self.process = start("alice", [sys.executable, "-c", APP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, method, **parameters):
        self.process.stdin.write(json.dumps([method, parameters]) + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def call(self, method, **parameters):
        self.ask(method, **parameters)
        return self.answer()


fresh()
person = Agent("alice")
first, second = App(), App()


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
    return answer["identifiers"][0]


def fetch(app, *identifiers):
    return app.call("FetchContacts", predicate={"identifiers": list(identifiers)}, keys=["givenName", "familyName"])


state = {}


@tries("(the person shares one contact with each of two apps)", "each app reads its own")
def prepare():
    state["first"] = share(first, "saga")
    state["second"] = share(second, "wilhelmina")
    got = fetch(first, state["first"])
    must("Lindqvist" in str(got) and MARKER not in str(got), str(got))
    return "each app reads its one contact"


@tries("fetches with the other app's identifier", "the same result as for an invented identifier")
def foreign():
    foreign_answer = fetch(second, state["first"])
    made_up = fetch(second, "0123456789abcdef0123456789abcdef")
    must(not secrets(foreign_answer) and foreign_answer == made_up, f"{foreign_answer}, {made_up}")
    return "the same empty result as for an invented identifier"


@tries("deletes and updates with the other app's identifier", "the same error as for an invented identifier")
def saving():
    def change(identifier):
        return second.call("SaveContacts", changes=[{"operation": "delete", "contact": {"identifier": identifier}}])

    def update(identifier):
        return second.call("SaveContacts", changes=[{"operation": "update", "contact": {"identifier": identifier, "nickname": "x"}}])

    made_up = "0123456789abcdef0123456789abcdef"
    pairs = [(make(state["first"]), make(made_up)) for make in (change, update)]
    must(all(left == right and left[0] for left, right in pairs), str(pairs))
    must("Lindqvist" in str(fetch(first, state["first"])), "the contact is gone")
    return f"{pairs[0][0][0]}, as for an invented identifier"


@tries("compares its identifiers with the other app's", "they differ for the same contact")
def comparing():
    same = share(second, "saga")
    must(same != state["first"], "two apps have the same identifier for one contact")
    return "one contact, two different identifiers"


@tries("counts the contacts", "only those that it may see")
def counting():
    error, answer = first.call("CountContacts")
    must(error is None and answer["count"] == 1, f"{error} {answer}")
    return "1"


run()
for each in (first, second):
    each.process.kill()
    each.process.wait()
person.close()
