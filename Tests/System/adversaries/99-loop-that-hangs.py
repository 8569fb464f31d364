"""whatever makes the broker's loop hang

It is stopped where it stands, as a loop that does not turn any more. After the look at the journal, which wants no such entry.
"""

import os
import signal

from house.broker import SERVICE, command, fresh, pid, wait_for
from house.varlink import admin, attempt
from house.verdict import must, run, tries

DROP_IN = "/run/systemd/system/contactbroker.service.d/soon.conf"


@tries("stops it while an app waits", "systemd sees that it gives no sign of life, and starts it anew")
def hangs():
    os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
    with open(DROP_IN, "w") as file:
        file.write("[Service]\nWatchdogSec=2\n")
    try:
        command("systemctl", "daemon-reload")
        fresh()
        before = pid()
        os.kill(before, signal.SIGSTOP)
        wait_for(lambda: pid() not in (0, before), "another process of the broker", timeout=40)
        wait_for(lambda: attempt(admin, "GetStatus")[0] is None, "the broker answers root")
        _, text = command("journalctl", "--no-pager", "-b", "-q", "-u", SERVICE, "-g", "[Ww]atchdog timeout")
        must(text, "the journal does not say why it was started anew")
        found = attempt(admin, "VerifyAudit")[1]
        must(found and "brokenAt" not in found, f"the audit: {found}")
    finally:
        os.unlink(DROP_IN)
        command("systemctl", "daemon-reload")
    return f"started anew; {found['records']} records, none of them harmed"


run()
