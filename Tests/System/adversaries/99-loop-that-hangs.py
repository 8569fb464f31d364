"""something that makes the broker's event loop hang

SIGSTOP stops the broker as a hanging loop would. This runs after 99-journal, which must find no watchdog timeout.
"""

import os
import signal

from fixture.broker import SERVICE, command, fresh, pid, wait_for
from fixture.varlink import admin, attempt
from fixture.verdict import must, run, tries

DROP_IN = "/run/systemd/system/contactbroker.service.d/soon.conf"


@tries("stops the broker with SIGSTOP", "systemd misses the watchdog notification and restarts it")
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
        must(text, "the journal does not say why it was restarted")
        found = attempt(admin, "VerifyAudit")[1]
        must(found and "brokenAt" not in found, f"the audit: {found}")
    finally:
        os.unlink(DROP_IN)
        command("systemctl", "daemon-reload")
    return f"restarted; {found['records']} audit records, all intact"


run()
