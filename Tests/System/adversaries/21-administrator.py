"""an administrator who audits the grants of several users with contactctl, and a person who asks about a contact"""

import json
import os
import pwd
import shutil
import subprocess

from fixture.accounts import as_user, start
from fixture.broker import CALLER, MARKER, command, fresh, wait_for
from fixture.person import PASSWORD_PROMPT, REFUSAL, Agent, Terminal, add_contact, password
from fixture.varlink import APPS, admin
from fixture.verdict import must, run, tries

fresh()
# A third user, who only denies an app.
if not any(each.pw_name == "carol" for each in pwd.getpwall()):
    command("useradd", "--create-home", "--shell", "/bin/bash", "carol")
    subprocess.run(["chpasswd"], input=f"carol:{password('carol')}\n", text=True, check=True)
SHARED = {"alice": ["ink", "mail", "paint", "mail helper"], "bob": ["ink", "mail", "chat"]}
NAMES = '{"method":"io.contactbroker.Contacts.FetchContacts","parameters":{"keys":["givenName"]}}'
QUERY = {"alice": "saga", "bob": "doris"}


def copies(user, names):
    """Copies of the caller in the user's home folder, each with a different hash. Returns their paths."""
    folder = f"/home/{user}/programs"

    def lay():
        with open(CALLER, "rb") as file:
            program = file.read()
        os.makedirs(folder, exist_ok=True)
        for name in names:
            with open(f"{folder}/{name}", "wb") as file:
                file.write(program + name.encode())
            os.chmod(f"{folder}/{name}", 0o755)

    as_user(user, lay)
    return [f"{folder}/{name}" for name in names]


def share(user, person, path):
    """The program asks for one contact, and the person shares it. Returns what the program printed."""
    button = json.dumps({"method": "io.contactbroker.Contacts.RequestContacts", "parameters": {"query": QUERY[user]}})
    asking = start(user, [path, APPS, button, NAMES], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        person.wait("looks for")
        person.approve("s")
        if person.wait("Only this contact", "You shared", PASSWORD_PROMPT) == "Only this contact":
            person.approve("y")
        person.give_password(user, "You shared")
        return asking.communicate(timeout=20)[0].decode(errors="replace")
    finally:
        asking.kill()


def ctl(*arguments, code=0):
    status, said = command("contactctl", *arguments)
    must(status == code, f"contactctl {' '.join(arguments)}: {status}: {said}")
    return said


def listed(*arguments):
    return json.loads(ctl("apps", "--json", *arguments))["grants"]


@tries("(two of three users share one contact with each of several apps; the third denies one)", "done")
def prepare():
    add_contact("bob", "Doris", "Ek")
    for user, names in SHARED.items():
        with Agent(user) as person:
            for path in copies(user, names):
                said = share(user, person, path)
                must("givenName" in said, f"{user}, {path}: {said[-300:]}")
    [path] = copies("carol", ["mail"])
    with Agent("carol") as person:
        asking = start("carol", [path, APPS, '{"method":"io.contactbroker.Contacts.RequestAccess"}'],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        person.wait("asks to see your contacts")
        person.press(REFUSAL)
        person.wait("You denied")
        wait_for(lambda: asking.poll() is not None, "the app is answered")
    return ", ".join(f"{user}: {len(names)}" for user, names in SHARED.items()) + "; carol denied one"


@tries("lists which apps each user has let in", "each app of each user, told apart by its path")
def apps():
    grants = listed("--all-users")
    for user, names in SHARED.items():
        uid = pwd.getpwnam(user).pw_uid
        for name in names:
            of = [each for each in grants if each["uid"] == uid and f"/{name} sha256:" in each["app"]]
            must(len(of) == 1 and of[0]["status"] == "limited" and of[0]["contacts"] == 1, f"{user}, {name}: {of}")
    table = ctl("apps", "--all-users")
    must("'/home/alice/programs/mail helper'" in table and "/home/bob/programs/mail" in table, table)
    must(not any(each["uid"] != pwd.getpwnam("bob").pw_uid for each in listed("--user", "bob")), "others' grants with --user")
    return f"{len(grants)} grants of {len({each['uid'] for each in grants})} users"


@tries("asks what one app may see and why, and who saw what in the last week", "answers with user, app, keys and counts")
def questions():
    shown = ctl("show", "/home/bob/programs/chat", "--user", "bob")
    must("1 contact" in shown and "disclosure" in shown, shown)
    why = ctl("why", "/home/bob/programs/chat", "--user", "bob")
    must("the person allowed it 1 contact" in why, why)
    audit = ctl("audit", "--all-users", "--since", "7d", "--event", "disclosure", "--csv")
    for user, names in SHARED.items():
        for name in names:
            must(f"/home/{user}/programs/{name} sha256:" in audit, f"{user}, {name}: {audit[-600:]}")
    must("Saga" not in audit and MARKER not in audit, "the audit has a name")
    return f"{len(audit.splitlines()) - 1} disclosures"


@tries("makes a report about all users, as a page to mail", "each app of each user, with its numbers; no names of contacts")
def report():
    page = "/root/report.html"
    if os.path.exists(page):
        os.unlink(page)
    ctl("report", "--all-users", "--html", page)
    try:
        status = os.stat(page)
        must(status.st_uid == 0 and status.st_mode & 0o7777 == 0o600, f"{status}")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        # A link is refused, and its target stays.
        os.symlink(page, "/root/link.html")
        try:
            said = ctl("report", "--all-users", "--html", "/root/link.html", code=2)
        finally:
            os.unlink("/root/link.html")
        must("a symbolic link" in said and os.stat(page).st_size == status.st_size, said)
    finally:
        os.unlink(page)
    must("default-src 'none'" in text and "<script" not in text, text[:600])
    for name in ("Saga", "Doris", "Lindqvist", MARKER):
        must(name not in text, f"the page has {name}")
    apps = {}
    for user in json.loads(ctl("report", "--all-users", "--json"))["users"]:
        for app in user["apps"]:
            apps[user["uid"], app["app"].split(" sha256:")[0]] = app
    for user, names in SHARED.items():
        must(f"User {user}" in text, f"the page lacks {user}")
        for name in names:
            path = f"/home/{user}/programs/{name}"
            must(path in text, f"the page lacks {path}")
            app = apps[pwd.getpwnam(user).pw_uid, path]
            # The program read names once, under a grant of one contact.
            must(app["level"] == "limited" and app["disclosures"] >= 1, f"{app}")
            must(app["contactsAtLeast"] == 1, f"{app}")
            must(app["prompts"] >= 1 and app["answers"]["limited"] >= 1, f"{app}")
    denied = apps[pwd.getpwnam("carol").pw_uid, "/home/carol/programs/mail"]
    must(denied["level"] == "denied" and denied["disclosures"] == 0 and denied["answers"]["denied"] >= 1, f"{denied}")
    return f"{len(apps)} apps, {len(text)} bytes"


@tries("looks up who may see alice's Saga, without permission in the settings", "refused, with the setting to change")
def looks_up():
    said = ctl("who", "Saga Lindqvist", "--user", "alice", code=1)
    must("look_up_contacts" in said and "mail" not in said, said)
    return "refused"


@tries("(alice asks who can see Saga, and who saw her)", "her four apps, after her password")
def person_asks():
    with Terminal("alice", "contactctl who saga; echo ended") as terminal:
        terminal.wait(PASSWORD_PROMPT)
        terminal.type_password(password("alice"))
        terminal.wait("ended")
        said = terminal.text
    now, seen = said.split("Saw it")
    for name in SHARED["alice"]:
        must(f"/{name}" in now and f"/{name}" in seen, f"{name}: {seen}")
    must("Lindqvist" not in said and "/home/bob" not in said, said)
    records = [each["detail"] for each in admin("QueryAudit", uid=1000, event="lookUp")["records"] if "detail" in each]
    # The record of root's refused look-up comes only if the settings permit it.
    must(not records, f"{records}")
    return "ink, mail, mail helper and paint"


@tries("(alice takes Saga back from one app by her name)", "after her password, that app alone no longer sees Saga")
def person_revokes():
    path = "/home/alice/programs/mail helper"
    with Terminal("alice", f"contactctl revoke '{path}' --contact saga; contactctl apps; echo ended") as terminal:
        terminal.wait(PASSWORD_PROMPT)
        terminal.type_password(password("alice"))
        terminal.wait("ended")
        must("now sees 0 contacts" in terminal.text, terminal.text)
    contacts = {each["displayName"]: each["contacts"] for each in listed("--user", "alice")}
    must(contacts["mail helper"] == 0 and contacts["mail"] == contacts["ink"] == 1, f"{contacts}")
    said = as_user("alice", lambda: subprocess.run(
        [path, APPS, NAMES], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20).stdout)
    must("givenName" not in said and "contacts" in said, said)
    return "the other apps still see her"


@tries("limits unverified programs to seven days, after policy try", "it named each app that this changes, and changed nothing")
def week():
    with open("/root/week.toml", "w", encoding="utf-8") as file:
        file.write('[[rule]]\nname = "a week"\nstrengths = ["unverified"]\nmaximum_lifetime = "7d"\n')
    ctl("policy", "check", "/root/week.toml")
    before = [(each["app"], each["revision"]) for each in listed("--all-users")]
    tried = ctl("policy", "try", "/root/week.toml")
    for user, names in SHARED.items():
        for name in names:
            must(f"/home/{user}/programs/{name}" in tried, f"{user}, {name}: {tried}")
    must(before == [(each["app"], each["revision"]) for each in listed("--all-users")], "policy try changed a grant")
    must("a week" not in ctl("policy", "explain"), "policy try put the rule in force")
    shutil.copy("/root/week.toml", "/etc/contactbroker/policy.d/50-week.toml")
    try:
        ctl("reload")
        must("a week" in ctl("policy", "explain"), "the rule is not in force")
        why = ctl("why", "/home/bob/programs/chat", "--user", "bob")
        must("a week" in why, why)
    finally:
        os.remove("/etc/contactbroker/policy.d/50-week.toml")
        ctl("reload")
    return f"{len(tried.splitlines())} lines; then in force, and removed again"


@tries("takes and shares alice's Saga by name, without permission in the settings", "refused, and nothing changes")
def changes_by_name():
    before = [(each["app"], each["revision"]) for each in listed("--user", "alice")]
    for act in ["revoke", "narrow", "share"]:
        said = ctl(act, "/home/alice/programs/mail", "--contact", "Saga Lindqvist", "--user", "alice", code=1)
        must("look_up_contacts" in said, said)
    must(before == [(each["app"], each["revision"]) for each in listed("--user", "alice")], "a grant changed")
    return "refused"


@tries("revokes an app for one user, then another one for all", "denied at once, and only there; the audit says by root")
def revokes():
    ctl("revoke", "/home/bob/programs/chat", "--user", "bob")
    statuses = {each["displayName"]: each["status"] for each in listed("--user", "bob")}
    must(statuses["chat"] == "denied" and statuses["ink"] == "limited", f"{statuses}")
    # The copies differ by user, and one command takes all of them.
    ctl("revoke", "ink", "--all-users")
    left = [each for each in listed("--all-users") if each["displayName"] == "ink" and each["status"] != "denied"]
    must(not left, f"{left}")
    done = [each for each in admin("QueryAudit", allUsers=True, event="revocation", limit=50)["records"]
            if each.get("detail") == "by root"]
    must(len(done) >= 3, f"{done}")
    said = as_user("bob", lambda: subprocess.run(
        ["/home/bob/programs/chat", APPS, NAMES], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20).stdout)
    must("AccessDenied" in said, said)
    return "AccessDenied for bob's chat; ink is denied for both"


@tries("(an app of alice lists her whole address book)", "an alarm tells root which app, and no contact's name")
def alarm():
    cards = "".join(f"BEGIN:VCARD\r\nVERSION:3.0\r\nN:;Crowd{number};;;\r\nFN:Crowd{number}\r\nEND:VCARD\r\n" for number in range(60))
    must("almost" not in ctl("alarms", "--user", "alice"), "there was an alarm before")

    def contactbook(*words):
        subprocess.run(["contactbook", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=40, check=True)

    def adds():
        with open("/home/alice/crowd.vcf", "w") as file:
            file.write(cards)
        return contactbook("import", "/home/alice/crowd.vcf")

    as_user("alice", adds)
    [path] = copies("alice", ["reader"])
    try:
        with Agent("alice") as person:
            calls = '{"method":"io.contactbroker.Contacts.RequestAccess"}', NAMES
            asking = start("alice", [path, APPS, *calls], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            person.wait("asks to see your contacts")
            person.share_all()
            person.give_password("alice", "You shared all contacts")
            said = asking.communicate(timeout=20)[0].decode(errors="replace")
    finally:
        as_user("alice", lambda: contactbook("undo", "--yes"))
    must("Crowd59" in said, said[-300:])
    told = ctl("alarms", "--user", "alice")
    must("reader" in told and "almost the whole address book" in told and "Crowd" not in told, told)
    status, journal = command("journalctl", "--no-pager", "MESSAGE_ID=b0151bd1ab164e4d8b4c808049595011")
    must(status == 0 and "readsEverything" in journal and "Crowd" not in journal, journal)
    return told.splitlines()[1].strip()


@tries("(the grants are reset)", "done")
def tidy():
    for each in listed("--all-users"):
        if "/programs/" in each["app"]:
            admin("ResetGrant", uid=each["uid"], app=each["app"])
    must(not any("/programs/" in each["app"] for each in listed("--all-users")), "a grant is left")
    return "reset"


run()
