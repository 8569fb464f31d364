"""somebody who reads the journal after all other attempts"""

import json

from fixture.accounts import run as run_as
from fixture.broker import HELPER, SERVICE, command, secrets, wait_for
from fixture.varlink import admin
from fixture.verdict import NotBuilt, must, run, tries

ENTRIES = []


def entries():
    if not ENTRIES:
        command("journalctl", "--sync")
        _, text = command("journalctl", "--no-pager", "-b", "-o", "json", "-u", SERVICE, "-u", HELPER)
        ENTRIES.extend(json.loads(line) for line in text.splitlines() if line.startswith("{"))
    if not ENTRIES:
        raise NotBuilt(f"no entry of {SERVICE}")
    return ENTRIES


@tries("searches every field for names from alice's book, as root", "none")
def names():
    found = [entry for entry in entries() if secrets(json.dumps(entry, ensure_ascii=False))]
    must(not found, str(found[:2]))
    _, whole = command("journalctl", "--no-pager", "-b", "-o", "json")
    others = [json.loads(line) for line in whole.splitlines() if secrets(line)]
    told = [{name: entry.get(name) for name in ("_COMM", "_TRANSPORT", "MESSAGE")} for entry in others[:2]]
    must(not others, f"in another program's entries: {told}")
    return f"none in {len(entries())} entries of ours, nor in any other"


@tries("searches for a query or a purpose that an app gave, as root", "none")
def queries():
    text = json.dumps(entries(), ensure_ascii=False)
    found = [word for word in ("wilhelmina", "to show what an app receives") if word in text]
    must(not found, str(found))
    return "none"


@tries("reads the service's entries as alice and as bob", "no entry")
def others():
    for user in ("alice", "bob"):
        status, said = run_as(user, ["journalctl", "--no-pager", "-q", "-u", SERVICE], timeout=20)
        must("contactbroker" not in said, f"{user}: {said[:200]}")
    return "nothing"


@tries("(reads message identifiers and fields, as a log store does)", "messages with fields, explained by the catalog")
def structured():
    known = [entry for entry in entries() if entry.get("MESSAGE_ID")]
    must(known, "no entry has a MESSAGE_ID")
    ours = sorted({name for entry in known for name in entry if name.startswith("CONTACTBROKER_")})
    status, text = command("journalctl", "--no-pager", "-b", "-x", "-u", SERVICE, "-n", "200")
    must("Subject:" in text, "no explanation from the catalog")
    return f"{len(known)} entries with MESSAGE_ID; fields {', '.join(ours)[:120]}"


@tries("(compares the journal's copy of the audit with the chain)", "every record, with its hash")
def audit():
    chain = {each["sequence"]: each["hash"] for each in admin("QueryAudit", allUsers=True)["records"]}
    last = max(chain)

    def records():
        command("journalctl", "--sync")
        _, text = command("journalctl", "--no-pager", "-b", "-o", "json", "-u", SERVICE, "CONTACTBROKER_SEQUENCE=%d" % last)
        return text.startswith("{")

    wait_for(records, f"record {last} in the journal")
    ENTRIES.clear()
    kept = [entry for entry in entries() if "CONTACTBROKER_SEQUENCE" in entry]
    numbers = [int(entry["CONTACTBROKER_SEQUENCE"]) for entry in kept]
    # A broker that is killed before it notes the position in the journal sends the last records again.
    once = sorted(set(numbers))
    must(once == list(range(once[0], once[-1] + 1)), "records are missing")
    must(once[0] <= 2 and once[-1] >= last, f"from {once[0]} to {once[-1]} of {last}")
    wrong = [n for n, entry in zip(numbers, kept) if n in chain and entry["CONTACTBROKER_HASH"] != chain[n]]
    must(not wrong, f"different hashes: {wrong[:5]}")
    return f"{len(once)} records, {len(numbers) - len(once)} of them twice"


@tries("(searches for crashes and watchdog timeouts)", "none")
def crashes():
    _, text = command("journalctl", "--no-pager", "-b", "-q", "-g", "dumped core|watchdog timeout|segfault|Fatal error")
    must(not text, text[:400])
    _, failed = command("systemctl", "--failed", "--no-legend", "--plain")
    must("contactbroker" not in failed, failed)
    return "none"


run()
