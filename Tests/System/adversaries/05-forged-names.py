"""a program of the same user that imitates another app"""

import os

from fixture.accounts import as_user, in_user_manager, run as run_as
from fixture.broker import AUTHORIZATION, CALLER, REQUEST_ACCESS, fresh, secrets, taken_for
from fixture.varlink import APPS
from fixture.verdict import must, run, tries

fresh()
FLATPAK = "org.example.Flat"
ASK = [CALLER, APPS, REQUEST_ACCESS]
STRONG = ("labelled", "sandboxed", "service", "installed")


def forged_info(*arguments):
    """bwrap with a /.flatpak-info in its root, as a shell command."""
    words = " ".join(f"'{word}'" for word in arguments)
    return ["bash", "-c", (
        "exec 3< <(printf '[Application]\\nname=" + FLATPAK + "\\nruntime=runtime/org.example.Platform/x86_64/1\\n"
        "[Instance]\\ninstance-id=4242\\n'); "
        "exec bwrap --unshare-user --unshare-pid --die-with-parent --ro-bind /usr /usr --symlink usr/lib /lib "
        "--symlink usr/lib64 /lib64 --symlink usr/bin /bin --proc /proc --dev /dev --ro-bind /srv /srv "
        "--file 3 /.flatpak-info --bind /run/contactbroker /run/contactbroker -- " + words)]


@tries("runs in a scope named like a flatpak's, without a sandbox", "not identified as the flatpak")
def forged_scope():
    strength, app = taken_for("alice", in_user_manager("alice", ASK, f"app-flatpak-{FLATPAK}-4711.scope"))
    must(strength not in STRONG and app != FLATPAK, f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("runs in a scope named like the installed contactbook's", "at most “claimed”, and no use of its grant")
def scope_of_contactbook():
    scope = "app-io.contactbroker.contactbook-4712.scope"
    strength, app = taken_for("alice", in_user_manager("alice", ASK, scope))
    must(strength in ("claimed", "unverified", None), f"{strength}: {app}")
    _, said = run_as("alice", in_user_manager("alice", [CALLER, APPS, AUTHORIZATION], "app-io.contactbroker.contactbook-4713.scope"))
    must('"full"' not in said, said)
    return f"{strength}: {app}; {said.strip()}"


@tries("makes a /.flatpak-info with bwrap", "not identified as the flatpak: the control group differs")
def forged_flatpak():
    strength, app = taken_for("alice", forged_info(*ASK))
    must(strength not in STRONG and app != FLATPAK, f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("forges both the scope and /.flatpak-info", "may pass for the flatpak and use its grant: not promised (Threats.md)")
def forged_wholly():
    strength, app = taken_for(
        "alice", in_user_manager("alice", forged_info(*ASK), f"app-flatpak-{FLATPAK}-4714.scope"))
    must(strength in ("sandboxed", "unverified", None), f"{strength}: {app}")
    return f"{strength}: {app} (not promised: Threats.md)"


@tries("bind-mounts its own file over contactbook in a user namespace", "not identified as the installed contactbook")
def bind_mount():
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c",
               f"mount --bind {CALLER} /usr/bin/contactbook && exec /usr/bin/contactbook {APPS} '{REQUEST_ACCESS}'"]
    strength, app = taken_for("alice", mounted)
    must(strength in ("unverified", "claimed", None) and not secrets(app), f"{strength}: {app}")
    must("bash" not in str(app) and "mount" not in str(app), f"the attempt itself failed: {app}")
    return f"{strength}: {app}"


@tries("runs the real contactbook in a user namespace", "not identified as the installed contactbook")
def real_file_elsewhere():
    mounted = ["unshare", "--user", "--map-current-user", "--mount", "contactbook", "list"]
    strength, app = taken_for("alice", mounted)
    must(strength in ("unverified", "claimed", None) and not secrets(app), f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("runs a copy of contactbook", "not identified as the installed contactbook")
def copy():
    as_user("alice", lambda: os.system("cp /usr/bin/contactbook /home/alice/contactbook"))
    strength, app = taken_for("alice", ["/home/alice/contactbook", "list"])
    must(strength in ("unverified", None) and not secrets(app), f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("makes a hard link to contactbook", "the kernel refuses the link, or the link runs the same file")
def hard_link():
    status, said = run_as("alice", ["ln", "/usr/bin/contactbook", "/home/alice/linked"])
    if status != 0:
        return " ".join(said.split())
    strength, app = taken_for("alice", ["/home/alice/linked", "list"])
    return f"{strength}: {app}"


@tries("writes a manifest for its own program", "manifests in users' folders have no effect")
def own_manifest():
    def write():
        for folder in ("/home/alice/.local/share/contactbroker/apps.d", "/home/alice/.config/contactbroker/apps.d"):
            os.makedirs(folder, exist_ok=True)
            with open(f"{folder}/org.example.Mine.toml", "w") as file:
                file.write(f'app = "org.example.Mine"\nname = "Mine"\nexecutables = ["{CALLER}"]\n')
        return True

    as_user("alice", write)
    strength, app = taken_for("alice", ASK, env={"XDG_DATA_DIRS": "/home/alice/.local/share"})
    must(strength in ("unverified", None), f"{strength}: {app}")
    return f"{strength}: {app}"


run()
