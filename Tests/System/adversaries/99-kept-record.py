"""somebody who can write the broker's files, and changes the audit while the broker is stopped"""

# After 99-journal, which compares the journal with an audit that nobody changed.

import os
import shutil
import sqlite3

from fixture.broker import STATE, admin, again, command, fresh, stop
from fixture.verdict import must, run, tries

COPY = "/srv/test/former-state"


def put(source):
    """Puts a copy of the whole state in place of the present one, with owners and modes."""
    stop()
    shutil.rmtree(STATE)
    command("cp", "--archive", source, STATE)
    again()


def verify(*arguments):
    return command("contactctl", "verify", *arguments)


def some_records():
    for _ in range(3):
        admin("PurgeUser", uid=64999)


fresh()


@tries("(verifies an audit that nobody changed)", "the journal confirms it")
def unchanged():
    some_records()
    fresh()
    status, said = verify()
    must(status == 0 and "the journal confirms" in said, said)
    return said.splitlines()[-1]


@tries("puts a whole older state back: audit, positions and address books", "verify names the journal's first record that is missing")
def older():
    stop()
    shutil.rmtree(COPY, ignore_errors=True)
    command("cp", "--archive", STATE, COPY)
    again()
    some_records()
    stop()
    command("cp", "--archive", STATE, COPY + "-newest")
    put(COPY)
    status, said = verify()
    must(status == 1 and "which the journal names on" in said and "an older access.sqlite was put back" in said, said)
    return said.splitlines()[0]


@tries("removes the last two records, with the positions that would tell", "verify names the journal's record that is missing")
def cut():
    put(COPY + "-newest")
    stop()
    # The file of an earlier time does not tell that there were more records.
    shutil.copy(f"{COPY}/access.synced", f"{STATE}/access.synced")
    with sqlite3.connect(f"{STATE}/access.sqlite") as file:
        for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f"DROP TRIGGER {name}")
        last = file.execute("SELECT max(sequence) FROM audit").fetchone()[0]
        file.execute("DELETE FROM audit WHERE sequence > ?", (last - 2,))
        file.execute(
            "UPDATE state SET auditSequence = ?, auditHead = (SELECT hash FROM audit WHERE sequence = ?)", (last - 2, last - 2))
    file.close()
    again()
    status, said = verify()
    must(status == 1 and "journal" in said, said)
    return said.splitlines()[0]


@tries("(the newest state is put back)", "verified again")
def tidy():
    put(COPY + "-newest")
    # The attacks above are on record in the journal, and contradict this state.
    status, said = verify("--since", "1m")
    must("broken" not in said, said)
    for each in (COPY, COPY + "-newest"):
        shutil.rmtree(each, ignore_errors=True)
    must(not os.path.exists(COPY), "a copy is left")
    return said.splitlines()[0]


run()
