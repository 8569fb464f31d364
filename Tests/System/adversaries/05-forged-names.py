"""a program of the same user that takes another app's name"""

import os

from house.accounts import as_user, in_user_manager, run as run_as
from house.broker import AUTHORIZATION, CALLER, REQUEST_ACCESS, fresh, secrets, taken_for
from house.varlink import APPS
from house.verdict import must, run, tries

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


@tries("a scope named as a flatpak's, around no sandbox", "not the flatpak")
def forged_scope():
    strength, app = taken_for("alice", in_user_manager("alice", ASK, f"app-flatpak-{FLATPAK}-4711.scope"))
    must(strength not in STRONG and app != FLATPAK, f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("a scope named as the installed contactbook", "“claimed” at most, and nothing of its grant")
def scope_of_contactbook():
    scope = "app-io.contactbroker.contactbook-4712.scope"
    strength, app = taken_for("alice", in_user_manager("alice", ASK, scope))
    must(strength in ("claimed", "unverified", None), f"{strength}: {app}")
    _, said = run_as("alice", in_user_manager("alice", [CALLER, APPS, AUTHORIZATION], "app-io.contactbroker.contactbook-4713.scope"))
    must('"full"' not in said, said)
    return f"{strength}: {app}; {said.strip()}"


@tries("a /.flatpak-info made with bwrap", "not the flatpak: the control group disagrees")
def forged_flatpak():
    strength, app = taken_for("alice", forged_info(*ASK))
    must(strength not in STRONG and app != FLATPAK, f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("both together", "said openly: this is not prevented, and takes nothing but a flatpak's own grant")
def forged_wholly():
    strength, app = taken_for(
        "alice", in_user_manager("alice", forged_info(*ASK), f"app-flatpak-{FLATPAK}-4714.scope"))
    must(strength in ("sandboxed", "unverified", None), f"{strength}: {app}")
    return f"{strength}: {app} (not promised: Threats.md)"


@tries("its own file, bind-mounted over contactbook in a user namespace", "not the installed contactbook")
def bind_mount():
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c",
               f"mount --bind {CALLER} /usr/bin/contactbook && exec /usr/bin/contactbook {APPS} '{REQUEST_ACCESS}'"]
    strength, app = taken_for("alice", mounted)
    must(strength in ("unverified", "claimed", None) and not secrets(app), f"{strength}: {app}")
    must("bash" not in str(app) and "mount" not in str(app), f"it could not try: {app}")
    return f"{strength}: {app}"


@tries("the real contactbook, in a user namespace of its own", "not the installed contactbook")
def real_file_elsewhere():
    mounted = ["unshare", "--user", "--map-current-user", "--mount", "contactbook", "list"]
    strength, app = taken_for("alice", mounted)
    must(strength in ("unverified", "claimed", None) and not secrets(app), f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("a copy of contactbook at a path of its own", "not the installed contactbook")
def copy():
    as_user("alice", lambda: os.system("cp /usr/bin/contactbook /home/alice/contactbook"))
    strength, app = taken_for("alice", ["/home/alice/contactbook", "list"])
    must(strength in ("unverified", None) and not secrets(app), f"{strength}: {app}")
    return f"{strength}: {app}"


@tries("a hard link to contactbook", "the link is refused, or it is the same file and no other program")
def hard_link():
    status, said = run_as("alice", ["ln", "/usr/bin/contactbook", "/home/alice/linked"])
    if status != 0:
        return " ".join(said.split())
    strength, app = taken_for("alice", ["/home/alice/linked", "list"])
    return f"{strength}: {app}"


@tries("a manifest of its own, for its own program", "manifests of users count for nothing")
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
