"""a new user who got the UID of a former one"""

import os

from fixture.accounts import as_user
from fixture.broker import command, fresh, secrets
from fixture.person import Agent
from fixture.varlink import admin, attempt, contacts
from fixture.verdict import must, run, tries

NUMBER = "1777"


def account(name):
    status, said = command("useradd", "--create-home", "--shell", "/bin/bash", "--uid", NUMBER, name)
    must(status == 0, said)
    import subprocess
    subprocess.run(["chpasswd"], input=f"{name}:password of {name}\n".encode(), check=True)
    command("loginctl", "enable-linger", name)


@tries("(carol saves a contact and is deleted; dave gets her UID)", "done")
def prepare():
    import subprocess
    from fixture.accounts import start
    fresh()
    account("carol")
    with Agent("carol") as person:
        adding = start("carol", ["contactbook", "add", "--given", "Carols", "--family", "Zyxgrob"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        person.wait("asks to see your contacts")
        person.share_all()
        person.give_password("carol", "You shared all contacts")
        said = adding.communicate(timeout=20)[0].decode()
    must(adding.returncode == 0, said)
    command("loginctl", "disable-linger", "carol")
    command("loginctl", "terminate-user", "carol")
    command("systemctl", "stop", f"user@{NUMBER}.service")
    status, said = command("userdel", "--force", "--remove", "carol")
    must(not os.path.exists("/home/carol"), said)
    account("dave")
    fresh()
    return "the same UID, another name"


@tries("dave calls the apps' and the administrator's socket", "refused, and nothing about carol's data")
def dave():
    got = as_user("dave", lambda: [
        attempt(contacts, "GetAuthorization"), attempt(contacts, "FetchContacts", 10, keys=["familyName"]),
        attempt(contacts, "CountContacts", 10), attempt(admin, "ListGrants"), attempt(admin, "QueryAudit")])
    must(not secrets(got) and "contactbook" not in str(got[3:]), str(got))
    must(all(error for error, _ in got[1:3]), str(got))
    return ", ".join(str(error or answer) for error, answer in got[:4])[:150]


@tries("dave runs contactbook, to which carol gave full access", "refused")
def contactbook():
    from fixture.accounts import run as run_as
    status, said = run_as("dave", ["contactbook", "list"], timeout=30)
    must(status != 0 and not secrets(said), said)
    return " ".join(said.split())[:120]


@tries("(root purges the UID)", "dave starts without a book")
def purged():
    status, said = command("contactctl", "purge-user", "--yes", NUMBER)
    must(status == 0, said)
    got = as_user("dave", lambda: attempt(contacts, "GetAuthorization"))
    must(got == [None, {"status": "notDetermined"}] or got[1]["status"] == "notDetermined", str(got))
    must(not os.path.exists(f"/var/lib/contactbroker/users/{NUMBER}/contacts.sqlite"), "carol's book is still there")
    return "carol's book is gone; dave: notDetermined"


run()
