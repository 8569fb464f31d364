"""polkitd itself, which an attempt can leave hanging: version 122 may wait for ever when an agent for passwords goes away in the
midst of a question. That the broker answers everybody else then, and gives nothing, is an attempt of its own; the others need it."""

import subprocess
import sys

# Seconds in which it answers when it does.
PATIENCE = 5


def revive():
    """Has polkitd answer again where it does not, and says so."""
    try:
        subprocess.run(["pkaction", "--action-id", "io.contactbroker.answer"], timeout=PATIENCE,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        print("polkitd did not answer, and is started anew", file=sys.stderr)
        subprocess.run(["systemctl", "kill", "--signal=KILL", "polkit.service"], timeout=30)
        subprocess.run(["systemctl", "restart", "polkit.service"], timeout=30)
