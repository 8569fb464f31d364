"""an auditor of the installation

Checks the owners, modes, units and capabilities of what is installed.
"""

import grp
import os
import pwd
import re
import stat

from fixture.broker import HELPER, SERVICE, STATE, command, fresh, pid
from fixture.verdict import NotBuilt, must, run, tries

RUN = "/run/contactbroker"
# path: kind, mode, owner, group
EXPECTED = {
    "/usr/bin/contact-agent": ("file", 0o2755, "root", "contact-agent"),
    "/usr/bin/contactctl": ("file", 0o755, "root", "root"),
    "/usr/bin/contactbook": ("file", 0o755, "root", "root"),
    "/usr/libexec/contactbroker/contactbrokerd": ("file", 0o755, "root", "root"),
    "/usr/libexec/contactbroker/contactbroker-identify": ("file", 0o755, "root", "root"),
    "/usr/libexec/contactbroker/contactbroker-thumbnail": ("file", 0o755, "root", "root"),
    "/etc/contactbroker": ("folder", 0o755, "root", "root"),
    "/etc/contactbroker/policy.d": ("folder", 0o755, "root", "root"),
    "/usr/share/contactbroker/apps.d": ("folder", 0o755, "root", "root"),
    RUN + "/apps": ("folder", 0o755, "root", "root"),
    RUN + "/agent": ("folder", 0o755, "root", "root"),
    RUN + "/admin": ("folder", 0o755, "root", "root"),
    RUN + "/apps/io.contactbroker.Contacts": ("socket", 0o666, None, None),
    RUN + "/agent/io.contactbroker.Agent": ("socket", 0o660, None, "contact-agent"),
    RUN + "/admin/io.contactbroker.Admin": ("socket", 0o666, None, None),
    RUN + "/identify/identify.sock": ("socket", 0o600, "contactbroker", None),
    STATE: ("folder", 0o700, "contactbroker", "contactbroker"),
}
KINDS = {"file": stat.S_ISREG, "folder": stat.S_ISDIR, "socket": stat.S_ISSOCK}


@tries("compares owners and modes of programs, sockets and state with the design", "no difference")
def modes():
    wrong = []
    for path, (kind, mode, owner, group) in EXPECTED.items():
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            wrong.append(f"{path}: missing")
            continue
        is_owner, is_group = pwd.getpwuid(status.st_uid).pw_name, grp.getgrgid(status.st_gid).gr_name
        is_mode = stat.S_IMODE(status.st_mode)
        if not KINDS[kind](status.st_mode):
            wrong.append(f"{path}: not a {kind}")
        if is_mode != mode:
            wrong.append(f"{path}: mode {is_mode:o}, not {mode:o}")
        if owner and is_owner != owner or group and is_group != group:
            wrong.append(f"{path}: {is_owner}:{is_group}, not {owner or '*'}:{group or '*'}")
    must(not wrong, "; ".join(wrong))
    return f"{len(EXPECTED)} paths, no difference"


@tries("searches for installed files that others can write", "none")
def writable():
    found, looked = [], 0
    for top in ("/usr/libexec/contactbroker", "/usr/share/contactbroker", "/etc/contactbroker", RUN):
        for folder, folders, files in os.walk(top):
            for path in [folder] + [os.path.join(folder, name) for name in files]:
                status = os.lstat(path)
                looked += 1
                if not stat.S_ISSOCK(status.st_mode) and status.st_mode & 0o022 and not stat.S_ISLNK(status.st_mode):
                    found.append(f"{path} ({stat.S_IMODE(status.st_mode):o})")
    must(not found, ", ".join(found))
    return f"none among {looked} files and folders"


@tries("lists the members of the groups contactbroker and contact-agent", "none")
def groups():
    try:
        found = {name: grp.getgrnam(name).gr_mem for name in ("contactbroker", "contact-agent")}
    except KeyError as missing:
        raise NotBuilt(f"group {missing}")
    must(not any(found.values()), str(found))
    return "both are empty"


def units():
    _, text = command("systemctl", "list-unit-files", "--no-legend", "--plain", "contactbroker*")
    names = [line.split()[0] for line in text.splitlines() if line]
    if not names:
        raise NotBuilt("no units contactbroker*")
    return names


@tries("verifies the units with systemd-analyze", "no message, but for a setting that older versions do not have")
def verify():
    names = units()
    _, said = command("systemd-analyze", "verify", "--man=no", *names)
    said = "\n".join(line for line in said.splitlines() if "Unknown key 'AcceptFileDescriptors'" not in line)
    must(not said, said)
    return f"no message about {', '.join(names)}"


@tries("measures the exposure of the daemon with systemd-analyze security", "1.5 at most")
def exposure():
    found = {}
    for unit in (name for name in units() if name.endswith(".service")):
        _, text = command("systemd-analyze", "security", "--no-pager", unit)
        level = re.search(r"exposure level for \S+: ([0-9.]+)", text)
        if level:
            found[unit] = float(level.group(1))
    if SERVICE not in found:
        raise NotBuilt(SERVICE)
    must(found[SERVICE] <= 1.5, str(found))
    return ", ".join(f"{unit}: {level}" for unit, level in found.items())


def process(unit):
    number = pid(unit)
    if not number:
        raise NotBuilt(f"{unit} is not running")
    with open(f"/proc/{number}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


@tries("takes over the daemon, and has its rights", "no capability, no new privileges, a system call filter")
def daemon_rights():
    fresh()
    status = process(SERVICE)
    user = pwd.getpwnam("contactbroker").pw_uid
    must(status["Uid"].split() == [str(user)] * 4, f"it runs as {status['Uid']}")
    held = {name: status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status[name], 16)}
    must(not held, f"it holds {held}")
    must(status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", f"{status['NoNewPrivs']}, {status['Seccomp']}")
    return "user contactbroker, every capability set empty, no new privileges, seccomp"


@tries("takes over the helper, and has its rights", "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH at most")
def helper_rights():
    status = process(HELPER)
    allowed = 1 << 19 | 1 << 2
    most = int(status["CapEff"], 16) | int(status["CapPrm"], 16) | int(status["CapBnd"], 16)
    must(most & ~allowed == 0, f"it may have {most:x}")
    must(status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", f"{status['NoNewPrivs']}, {status['Seccomp']}")
    return "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH at most, no new privileges, seccomp"


@tries("exploits that the daemon is in its own user namespace and cannot see callers' UIDs", "it is in the initial user namespace")
def no_private_users():
    number = pid(SERVICE)
    must(number, "the daemon is not running")
    same = os.readlink(f"/proc/{number}/ns/user") == os.readlink("/proc/1/ns/user")
    must(same, "the daemon is in its own user namespace")
    return "the daemon is in the initial user namespace"


run()
