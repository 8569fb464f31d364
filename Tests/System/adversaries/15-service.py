"""a system service that runs as alice"""

from fixture.broker import CALLER, REQUEST_ACCESS, command, fresh, pending, secrets
from fixture.varlink import ADMIN, AGENT, APPS
from fixture.verdict import must, run, tries

fresh()


def service(*arguments, unit, user="alice"):
    return command(
        "systemd-run", "--quiet", "--wait", "--pipe", "--collect", f"--unit={unit}", f"--property=User={user}",
        "--property=RuntimeMaxSec=10", "--", *arguments)


@tries("lists and resets grants at the administrator's socket", "NotAuthorized")
def admins_door():
    for method in ("ListGrants", "ResetGrant", "QueryAudit"):
        _, said = service(CALLER, ADMIN, f'{{"method":"io.contactbroker.Admin.{method}"}}', unit="backup.service")
        must("NotAuthorized" in said or said == "closed", f"{method}: {said}")
    return said[-60:]


@tries("opens the agent's socket", "permission denied")
def agents_door():
    _, said = service(CALLER, AGENT, '{"method":"io.contactbroker.Agent.Serve","more":true}', unit="backup.service")
    must("Permission denied" in said or said == "closed", said)
    return said


@tries("requests access", "identified as service, by the unit's name")
def known():
    import threading
    fresh()
    thread = threading.Thread(target=service, args=(CALLER, APPS, REQUEST_ACCESS), kwargs={"unit": "backup.service"})
    thread.start()
    from fixture.broker import wait_for
    prompt = wait_for(lambda: pending(1000), "its prompt")[0]
    thread.join()
    must(prompt["strength"] == "service" and "backup.service" in str(prompt), str(prompt))
    return f"service: {prompt.get('app') or prompt.get('displayName')}"


@tries("runs as bob with the same unit name", "no contact: another user's app")
def bobs():
    _, said = service(CALLER, APPS, '{"method":"io.contactbroker.Contacts.FetchContacts","parameters":{"keys":["familyName"]}}',
                      unit="backup.service", user="bob")
    must(not secrets(said), said)
    return said[-80:]


run()
