"""another user of the machine"""


from fixture.accounts import as_user
from fixture.broker import CALLER, REQUEST_ACCESS, Asking, fresh, secrets
from fixture.varlink import ADMIN, AGENT, APPS, IDENTIFY, Connection, admin, attempt, contacts
from fixture.verdict import must, run, tries

fresh()


def door(path, method, **parameters):
    return attempt(lambda: Connection(path, 10).call(method, parameters))


@tries("bob calls the apps' socket", "his own authorization; nothing about alice, not even that she has contacts")
def apps():
    def ask():
        return [attempt(contacts, "GetAuthorization"), attempt(contacts, "CountContacts", 8),
                attempt(contacts, "FetchContacts", 8, keys=["givenName"])]

    bob, nobody = as_user("bob", ask), as_user("nobody", ask)
    must(bob[0][1]["status"] == "notDetermined", f"GetAuthorization: {bob[0]}")
    must(not secrets(bob) and not secrets(nobody), f"{bob}; {nobody}")
    # bob is logged in, so his calls wait longer for an agent than those of the user nobody. Neither has a book.
    must({error for error, _ in bob[1:]} <= {"no answer", "TooManyPrompts"}, f"bob: {bob}")
    must([error for error, _ in nobody[1:]] == ["AuthorizationNotDetermined"] * 2, f"nobody: {nobody}")
    return f"notDetermined, then {bob[1][0]}; nobody: {nobody[1][0]}"


@tries("bob opens the agent's socket", "permission denied")
def agents_door():
    got = as_user("bob", lambda: [door(AGENT, "io.contactbroker.Agent.Serve")[0], door(AGENT, "x")[0]])
    must(got == ["permission denied"] * 2, str(got))
    return "permission denied"


@tries("bob opens the helper's socket", "permission denied")
def helpers_door():
    got = as_user("bob", lambda: door(IDENTIFY, "x")[0])
    must(got == "permission denied", str(got))
    return got


# The second error means that a password would permit the call, but the caller did not allow the broker to ask for one.
# Neither error discloses anything.
REFUSED = ("NotAuthorized", "InteractiveAuthenticationRequired")
ADMIN_CALLS = {
    "ListGrants": [{"uid": 1000}, {"allUsers": True}],
    "SetGrant": [{"app": "io.contactbroker.contactbook", "status": "denied", **whose}
                 for whose in ({"uid": 1000}, {"allUsers": True})],
    "ResetGrant": [{"uid": 1000}, {"allUsers": True}],
    "EndSessionGrants": [{"uid": 1000}, {"allUsers": True}],
    "FindContactAccess": [{"uid": 1000, "contact": "Ada Lovelace"}],
    "QueryAudit": [{"uid": 1000}, {"allUsers": True}],
    "ListPending": [{"uid": 1000}, {"allUsers": True}],
    "ExplainDecision": [{"app": "io.contactbroker.contactbook", "uid": 1000}],
    "GetStatus": [{"allUsers": True}], "VerifyAudit": [{}], "ReloadPolicy": [{}], "PurgeUser": [{"uid": 1000}],
}


@tries("bob makes calls about alice, and administrators' calls, at the administrator's socket", "every call refused")
def admins_door():
    def ask():
        return [(name, attempt(admin, name, **parameters)) for name, calls in ADMIN_CALLS.items() for parameters in calls]

    got = as_user("bob", ask)
    through = [(name, answer) for name, answer in got if answer[0] not in REFUSED]
    must(not through, f"{through}")
    return f"{', '.join(sorted({answer[0] for _, answer in got}))}: {len(got)} times"


@tries("bob reads the broker's status and the open prompts", "his own numbers, none of alice's")
def status():
    def ask():
        return attempt(admin, "GetStatus"), attempt(admin, "ListPending")

    with Asking("alice", [CALLER, APPS, REQUEST_ACCESS]) as asking:
        must(asking.prompt, "alice has no open prompt")
        (error, told), pending = as_user("bob", ask)
        everybody = admin("GetStatus", allUsers=True)["status"]
    must(error is None and list(pending) == [None, {"prompts": []}], f"{error}, {pending}")
    own = told["status"]
    must(everybody["promptsOpen"] == 1 and own["promptsOpen"] == own["agents"] == own["grants"] == 0, f"{own}")
    must("auditRecords" not in own and own["connections"] <= 1, f"{own}")
    return "0 prompts, 0 grants"


@tries("alice herself makes administrators' calls", "refused without a password")
def own_uid():
    names = ("VerifyAudit", "ReloadPolicy", "PurgeUser")
    got = as_user("alice", lambda: [attempt(admin, name, **({"uid": 1000} if name == "PurgeUser" else {})) for name in names])
    must(all(error in REFUSED for error, _ in got), str(got))
    return ", ".join(sorted({error for error, _ in got}))


@tries("alice's program reads her own audit at the administrator's socket", "refused without her password")
def own_audit():
    must(admin("QueryAudit", uid=1000, limit=1)["records"], "she has no audit, so nothing is tested")
    queries = [{}, {"uid": 1000}, {"limit": 1}, {"event": "disclosure"}, {"follow": True}]
    queries += [each | {"allowInteractiveAuthentication": True} for each in queries]

    def ask():
        return [attempt(Connection(ADMIN, 30).call, "io.contactbroker.Admin.QueryAudit", each, more=True) for each in queries]

    got = as_user("alice", ask)
    must(all(error in REFUSED and "records" not in (answer or {}) for error, answer in got), str(got))
    return f"{', '.join(sorted({error for error, _ in got}))}: {len(got)} times"


@tries("the system's user “nobody” opens every socket", "no more than bob gets")
def nobody():
    got = as_user("nobody", lambda: [
        door(AGENT, "x")[0], door(IDENTIFY, "x")[0], attempt(admin, "ListGrants", uid=1000)[0]])
    must(got[:2] == ["permission denied"] * 2 and got[2] in REFUSED, str(got))
    return ", ".join(got)


run()
