"""backups: who may make them, what a forged one gets, and a user who is restored on a second machine"""

# After 99-kept-record, because the second machine's broker reports its audit to the same journal.

import json
import os
import pwd
import shutil
import subprocess

from fixture.accounts import as_user, start
from fixture.broker import CALLER, STATE, again, command, fresh, stop
from fixture.person import PASSWORD_PROMPT, Agent, Terminal, add_contact, password
from fixture.varlink import APPS, admin
from fixture.verdict import must, run, tries

USER = "erin"
PROGRAM = f"/home/{USER}/programs/diary"
FETCH = '{"method":"io.contactbroker.Contacts.FetchContacts","parameters":{"keys":["givenName","creationDate"]}}'
PASSPHRASE = "a long passphrase"
FIRST = STATE + ".first"


def account(uid=None):
    options = ["--uid", str(uid), "--no-create-home"] if uid else ["--create-home"]
    status, said = command("useradd", *options, "--shell", "/bin/bash", USER)
    must(status == 0, said)
    subprocess.run(["chpasswd"], input=f"{USER}:{password(USER)}\n", text=True, check=True)
    command("chown", "--recursive", f"{USER}:", f"/home/{USER}")


def delete_account():
    uid = pwd.getpwnam(USER).pw_uid
    command("loginctl", "terminate-user", USER)
    command("systemctl", "stop", f"user@{uid}.service")
    status, said = command("userdel", "--force", USER)
    must(status == 0 or "mail spool" in said, said)


def fetched():
    """The contacts that the program of the user gets, with its identifiers, or the error."""
    said = as_user(USER, lambda: subprocess.run(
        [PROGRAM, APPS, FETCH], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20).stdout.strip())
    try:
        return json.dumps(json.loads(said.rstrip("\0"))["parameters"]["contacts"])
    except (ValueError, KeyError):
        return said


def typing(user, words, *answers):
    """Runs contactctl at a terminal of the user. answers: texts to wait for, and what to type then."""
    with Terminal(user, f"contactctl {words}; echo ended with $?") as terminal:
        for text, answer in answers:
            terminal.wait(text)
            terminal.type_password(answer)
        terminal.wait("ended with")
        return terminal.everything


NEW = [("Enter passphrase", PASSPHRASE), ("Confirm passphrase", PASSPHRASE)]
OLD = [("Enter passphrase", PASSPHRASE)]
OWN = [(PASSWORD_PROMPT, password(USER))]


@tries("(erin shares two of three contacts with a program)", "done")
def prepare():
    fresh()
    account()
    for given in ("Fenna", "Gerrit", "Hanna"):
        add_contact(USER, given, "Backup")

    def lay():
        os.makedirs(os.path.dirname(PROGRAM), exist_ok=True)
        shutil.copy(CALLER, PROGRAM)

    as_user(USER, lay)
    with Agent(USER) as person:
        for given in ("Fenna", "Gerrit"):
            button = json.dumps({"method": "io.contactbroker.Contacts.RequestContacts", "parameters": {"query": given}})
            asking = start(USER, [PROGRAM, APPS, button], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            person.wait("looks for")
            person.approve("s")
            if person.wait("Only this contact", "You shared", PASSWORD_PROMPT) == "Only this contact":
                person.approve("y")
            person.give_password(USER, "You shared")
            asking.communicate(timeout=20)
            person.press("")
    said = fetched()
    must("Fenna" in said and "Gerrit" in said and "Hanna" not in said, said)
    return "Fenna and Gerrit"


@tries("bob and a program of erin without her password back up and restore her address book", "refused")
def others():
    bob = as_user("bob", lambda: subprocess.run(
        ["contactctl", "backup", "--plain", "--user", USER, "/home/bob/x"], stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=20).stderr)
    must("the contact broker refused" in bob and not os.path.exists("/home/bob/x"), bob)
    own = as_user(USER, lambda: [subprocess.run(
        ["contactctl", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=20, start_new_session=True).stdout for words in (
            ["backup", "--plain", f"/home/{USER}/x"], ["restore", "/etc/passwd"])])
    must("a password is required" in own[0] and not os.path.exists(f"/home/{USER}/x"), own[0])
    must("not a backup" in own[1], own[1])
    return own[0].splitlines()[0]


@tries("(erin makes a backup, which a passphrase encrypts, and restores it)", "after her password each time")
def person():
    file = f"/home/{USER}/own.backup"
    said = typing(USER, f"backup {file}", *OWN, *NEW)
    must("saved 3 contacts" in said and "ended with 0" in said, said)
    status = os.stat(file)
    must(status.st_mode & 0o7777 == 0o600, oct(status.st_mode))
    with open(file, "rb") as backup:
        must(b"Fenna" not in backup.read(), "the file is not encrypted")
    before = fetched()
    # She decrypts it before the broker knows that there is a restore.
    said = typing(USER, f"restore --replace {file}", OLD[0], *OWN)
    must("restored 3 contacts" in said and "ended with 0" in said, said)
    must(fetched() == before, fetched())
    return "saved and restored 3 contacts"


@tries("a program of erin gives itself all contacts in her backup, and she restores that", "refused: it was changed")
def forged():
    file = f"/home/{USER}/plain.backup"
    typing(USER, f"backup --plain {file}", *OWN)

    def forge():
        with open(file, encoding="utf-8") as backup:
            text = backup.read()
        with open(file, "w", encoding="utf-8") as backup:
            backup.write(text.replace('"status":"limited"', '"status":"full"'))
        return text != text.replace('"status":"limited"', '"status":"full"')

    must(as_user(USER, forge), "the backup has no limited grant")
    before = fetched()
    said = typing(USER, f"restore --replace {file}", *OWN)
    must("was changed" in said and "ended with 1" in said, said)
    must(fetched() == before, "the program gets something else")
    # As contacts only it gives the program nothing either.
    said = typing(USER, f"restore --replace --contacts-only {file}", *OWN)
    must("restored 3 contacts" in said, said)
    must("Fenna" not in fetched() and "Hanna" not in fetched(), fetched())
    said = typing(USER, f"restore --replace /home/{USER}/own.backup", OLD[0], *OWN)
    must("restored 3 contacts" in said, said)
    return "contact broker: the backup was changed"


@tries("(root backs up erin with a passphrase, and restores her on a second machine, where she has another UID)",
       "the same contacts, and the program gets the same identifiers as before")
def second_machine():
    # The restore of contacts only took them from the program.
    grants = admin("ListGrants", uid=pwd.getpwnam(USER).pw_uid)["grants"]
    must(any(each["app"].startswith(PROGRAM) and each["contacts"] == 0 for each in grants), f"{grants}")
    with Agent(USER) as person:
        asking = start(USER, [PROGRAM, APPS, json.dumps(
            {"method": "io.contactbroker.Contacts.RequestContacts", "parameters": {"query": "Hanna"}})],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        person.wait("looks for")
        person.approve("s")
        if person.wait("Only this contact", "You shared", PASSWORD_PROMPT) == "Only this contact":
            person.approve("y")
        person.give_password(USER, "You shared")
        asking.communicate(timeout=20)
    before = fetched()
    must("Hanna" in before, before)
    said = typing("root", f"backup --user {USER} /root/erin.backup", *NEW)
    must("saved 3 contacts" in said and "ended with 0" in said, said)
    former = pwd.getpwnam(USER).pw_uid
    stop()
    os.rename(STATE, FIRST)
    try:
        delete_account()
        account(former + 1_000)
        again()
        must("givenName" not in fetched(), fetched())
        wrong = typing("root", f"restore --user {USER} /root/erin.backup", ("Enter passphrase", "another one"))
        must("age could not decrypt" in wrong and "ended with 2" in wrong, wrong)
        said = typing("root", f"restore --user {USER} /root/erin.backup", *OLD)
        must("restored 3 contacts" in said and "restored the access of" in said and "ended with 0" in said, said)
        after = fetched()
        must(after == before, f"{before}\n{after}")
        shown = command("contactctl", "show", PROGRAM, "--user", USER)[1]
        must("restored from the backup" in shown, shown)
        must(admin("QueryAudit", uid=former + 1_000, event="restore")["records"], "the restore is not on record")
    finally:
        stop()
        shutil.rmtree(STATE, ignore_errors=True)
        os.rename(FIRST, STATE)
        delete_account()
        account(former)
        again()
    must(fetched() == before, "the first machine gives something else")
    command("contactctl", "purge-user", "--yes", USER)
    return f"{len(before)} bytes, the same on both"


run()
