"""a sandboxed app that got all of /run/contactbroker by mistake"""


from fixture.accounts import run as run_as
from fixture.broker import command, fresh, pid, secrets, taken_for
from fixture.varlink import ADMIN, AGENT, APPS
from fixture.verdict import must, run, tries

fresh()
SANDBOX = [
    "bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup", "--die-with-parent",
    "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin",
    "/bin", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/srv", "/srv",
    "--bind", "/run/contactbroker", "/run/contactbroker", "--"]
CALLER = "/srv/test/caller"


def inside(*arguments, user="alice"):
    return run_as(user, SANDBOX + list(arguments), timeout=30)


@tries("opens the agent's socket", "permission denied")
def agents_door():
    status, said = inside(CALLER, AGENT, '{"method":"io.contactbroker.Agent.Serve","more":true}')
    must("Permission denied" in said or said.strip() == "closed", said)
    return said.strip()


@tries("calls the administrator's socket", "NotAuthorized, or connection closed")
def admins_door():
    got = {}
    for method in ("ListGrants", "QueryAudit", "GetStatus", "ResetGrant"):
        _, said = inside(CALLER, ADMIN, f'{{"method":"io.contactbroker.Admin.{method}"}}')
        got[method] = said.strip()
        must("NotAuthorized" in said or said.strip() == "closed", f"{method}: {said}")
    return got["ListGrants"]


@tries("connects there two hundred times, to flood the journal", "at most twenty entries")
def complaints():
    command("journalctl", "--rotate")
    fresh()
    knocks = (
        "import socket\n"
        "for _ in range(200):\n"
        "    door = socket.socket(socket.AF_UNIX)\n"
        f"    door.connect({ADMIN!r})\n"
        "    door.recv(1)\n"
        "    door.close()\n")
    status, said = inside("python3", "-c", knocks)
    must(status == 0, said)
    command("journalctl", "--sync")
    _, text = command("journalctl", "--no-pager", "-q", "-o", "cat", f"_PID={pid()}", "-g", "refused a connection")
    must(len(text.splitlines()) <= 20, f"{len(text.splitlines())} entries")
    must(text, "no entry")
    return f"{len(text.splitlines())} entries"


@tries("starts the installed agent inside", "the agent does not get its group and reaches nothing")
def agent_inside():
    status, said = run_as(
        "alice", ["script", "--quiet", "--return", "--command", " ".join(SANDBOX + ["contact-agent", "--once"]), "/dev/null"],
        timeout=8)
    must("Waiting for apps" not in said and "Password" not in said, said)
    return " ".join(said.split())[:160] or "nothing"


@tries("starts the installed contactctl inside", "refused")
def contactctl():
    status, said = inside("contactctl", "apps")
    must(status not in (0, "no end") and not secrets(said), said)
    return " ".join(said.split())[:120]


@tries("starts the installed contactbook inside, which has full access outside", "not identified as the installed contactbook")
def contactbook():
    strength, app = taken_for("alice", SANDBOX + ["contactbook", "list"])
    must(strength not in ("installed", "sandboxed", "labelled", "service"), f"{strength} {app}")
    must(not secrets(app), f"{app}")
    return f"{strength}: {app}"


@tries("requests access", "identified only by path and hash")
def own_name():
    strength, app = taken_for("alice", SANDBOX + [CALLER, APPS, '{"method":"io.contactbroker.Contacts.RequestAccess"}'])
    must(strength in ("unverified", None), f"{strength}: {app}")
    return f"{strength}: {app}"


run()
