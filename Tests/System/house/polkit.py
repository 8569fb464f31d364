"""Checks that polkitd still answers after an attempt. polkitd 122 hangs for good if CancelCheckAuthorization cancels a check in the
moment when its agent answers or goes away, so the broker never calls that."""

import glob
import subprocess

# Seconds within which a working polkitd answers. Sometimes it takes 15, its time limit for the administrator's rules, because it
# can miss that they have finished.
PATIENCE = 20


def read(path):
    try:
        with open(path) as file:
            return " ".join(file.read().split())
    except OSError as error:
        return error.strerror


def hanging():
    """`None` if polkitd answers. Otherwise restarts it for the following attempts, and returns what its threads waited for."""
    try:
        subprocess.run(["pkaction", "--action-id", "io.contactbroker.answer"], timeout=PATIENCE,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return None
    except subprocess.TimeoutExpired:
        pid = subprocess.run(["systemctl", "show", "--property=MainPID", "--value", "polkit.service"], timeout=30,
                             stdout=subprocess.PIPE).stdout.decode().strip()
        threads = [f"{read(each + '/comm')}: {read(each + '/wchan')} {read(each + '/syscall').split(' ')[0]}"
                   for each in sorted(glob.glob(f"/proc/{pid}/task/*"))]
        subprocess.run(["systemctl", "restart", "polkit.service"], timeout=30)
        return "; ".join(threads) or "it is gone"
