"""root of a container that was given the broker's sockets"""

import os
import shutil

from fixture.broker import CALLER, command, fresh
from fixture.varlink import ADMIN, APPS
from fixture.verdict import must, run, tries

fresh()
ROOT = "/srv/container"
CALLS = {
    "ListGrants": '{"method":"io.contactbroker.Admin.ListGrants","parameters":{"uid":1000}}',
    "QueryAudit": '{"method":"io.contactbroker.Admin.QueryAudit","parameters":{"uid":1000}}',
    "SetGrant": '{"method":"io.contactbroker.Admin.SetGrant","parameters":{"uid":1000,"app":"io.contactbroker.contactbook",'
                '"strength":"installed","status":"full"}}',
}
# About what container engines leave to root.
CAPABILITIES = ["setpriv", "--bounding-set=-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+sys_chroot",
                "--inh-caps=-all"]
NAMESPACES = ["unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--propagation", "private"]
MOUNTS = {
    "bind": f"mount --bind {ROOT} /mnt",
    "overlay": f"mount -t tmpfs over /tmp && mkdir /tmp/upper /tmp/work && "
               f"mount -t overlay over -o lowerdir={ROOT},upperdir=/tmp/upper,workdir=/tmp/work /mnt",
}


def root_tree():
    """A root file system with the caller and its libraries."""
    if os.path.isdir(ROOT):
        return
    for name in ("bin", "run", "proc", "tmp"):
        os.makedirs(f"{ROOT}/{name}")
    shutil.copy(CALLER, f"{ROOT}/bin/caller")
    _, libraries = command("ldd", CALLER)
    for word in libraries.split():
        if word.startswith("/"):
            os.makedirs(ROOT + os.path.dirname(word), exist_ok=True)
            shutil.copy(word, ROOT + word)


def inside(mount, call):
    root_tree()
    script = (f"{MOUNTS[mount]} && mount --rbind /run/contactbroker /mnt/run && mount -t proc proc /mnt/proc && "
              f"exec {' '.join(CAPABILITIES)} chroot /mnt /bin/caller /run/admin/{os.path.basename(ADMIN)} '{call}'")
    return command(*NAMESPACES, "bash", "-c", script)[1]


def refused(said):
    must(said == "closed" or "NotAuthorized" in said, said)
    return said


@tries("(root of the machine lists alice's grants)", "they are listed")
def host():
    _, said = command(CALLER, ADMIN, CALLS["ListGrants"])
    must('"grants"' in said, said)
    return "listed"


@tries("reads grants and audit and raises a grant, from a container with a root of its own", "refused")
def bound():
    return "; ".join(refused(inside("bind", call)) for call in CALLS.values())


@tries("does the same where an overlay hides which file it runs", "refused")
def overlay():
    return "; ".join(refused(inside("overlay", call)) for call in CALLS.values())


def from_memory(call):
    script = (f"import os; data = open('{CALLER}', 'rb').read(); file = os.memfd_create('x', 0); os.write(file, data); "
              f"os.execve(file, ['x', '{ADMIN}', '''{call}'''], dict(os.environ))")
    return ["python3", "-c", script]


@tries("does the same from a file in memory, in a mount namespace of its own", "refused")
def memory():
    said = [command(*NAMESPACES, *CAPABILITIES, *from_memory(call))[1] for call in CALLS.values()]
    return "; ".join(refused(each) for each in said)


@tries("does the same from a file in memory, in the machine's namespaces", "refused: it cannot be identified")
def unidentified():
    return "; ".join(refused(command(*from_memory(call))[1]) for call in CALLS.values())


@tries("calls the apps' socket", "nothing about alice")
def apps():
    script = (f"{MOUNTS['overlay']} && mount --rbind /run/contactbroker /mnt/run && mount -t proc proc /mnt/proc && exec "
              f"{' '.join(CAPABILITIES)} chroot /mnt /bin/caller /run/apps/{os.path.basename(APPS)} "
              "'{\"method\":\"io.contactbroker.Contacts.GetAuthorization\"}'")
    _, said = command(*NAMESPACES, "bash", "-c", script)
    must(said == "closed" or "notDetermined" in said, said)
    return said


run()
