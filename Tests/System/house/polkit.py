"""polkitd itself: whatever somebody tries, it must go on answering. polkitd 122 waits for ever where a question is taken back by
CancelCheckAuthorization in the moment when its agent answers or goes away, so the broker never calls that."""

import glob
import subprocess

# Seconds in which it answers when it is well. Now and then it does nothing for 15: it can miss that the administrator's rules are
# through, and gives them so long.
PATIENCE = 20


def read(path):
    try:
        with open(path) as file:
            return " ".join(file.read().split())
    except OSError as error:
        return error.strerror


def hanging():
    """Nothing where polkitd answers; else what its threads wait for, and one in its place for those who try after this."""
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
