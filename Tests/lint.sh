#!/bin/sh
# Checks what a formatter cannot. Prints each violation, and fails if there is one.
set -u
cd "$(dirname "$0")/.."
found=0

say() {
    printf '%s\n' "$1" >&2
    found=1
}

# Unsafe constructs need a comment that says why they are safe, on the same line or in the two lines above.
for file in $(git ls-files 'Sources/*.swift' 'Examples/*.swift' 'Benchmarks/*.swift'); do
    hits=$(awk '
        /try!|fatalError\(|nonisolated\(unsafe\)|unsafeBitCast|[^a-z]as! / && !/^ *\/\// {
            if ($0 !~ /\/\// && last !~ /\/\// && before !~ /\/\//) print FILENAME ":" FNR ": " $0
        }
        { before = last; last = $0 }' "$file")
    [ -z "$hits" ] || say "no comment says why this is safe: $hits"
done

# Files must stay small enough to read as a whole. A long file may be right, so this only asks about it.
for file in $(git ls-files 'Sources/*.swift' 'Tests/*.swift' 'Benchmarks/*.swift' 'Benchmarks/*.c'); do
    lines=$(wc -l <"$file")
    [ "$lines" -le 600 ] || say "more than 600 lines: $file ($lines)"
    [ "$lines" -le 400 ] || [ "$lines" -gt 600 ] || echo "is this one responsibility? $file has $lines lines" >&2
done

# Pure modules must not do input or output.
for room in BrokerBounds BrokerJSON BrokerModel BrokerNormalization BrokerFormatting BrokerVarlink BrokerVCard BrokerCardText BrokerDAV BrokerContactFiles BrokerAccessControl BrokerAuditReport BrokerDisclosure BrokerInterface; do
    hits=$(git grep -nE '^(@preconcurrency )?import (Foundation|FoundationEssentials|Dispatch|BrokerSQLite|CBrokerSQLite)' -- "Sources/$room" || true)
    [ -z "$hits" ] || say "a pure module imports a module for input or output: $hits"
done
hits=$(git grep -nE '^(@preconcurrency )?import Foundation$' -- Sources/contact-agent Sources/contactctl Sources/contactbroker-identify Sources/BrokerPeerIdentity Sources/BrokerVarlinkClient Sources/BrokerConnection Sources/BrokerCardDAV Sources/contactbroker-dav || true)
[ -z "$hits" ] || say "Foundation doubles the start time of a small program; use FoundationEssentials or none: $hits"

# Contact data leaves the broker only through Sources/BrokerLedger/DisclosedReply.swift.
hits=$(git grep -nE '@_spi\(Disclosed\).*import' -- Sources ':!Sources/BrokerLedger/DisclosedReply.swift' || true)
[ -z "$hits" ] || say "only DisclosedReply.swift may import the bytes of a disclosure: $hits"
hits=$(git grep -nE '@_spi\(StoredBytes\).*import' -- Sources ':!Sources/BrokerContactsStore' ':!Sources/BrokerDisclosure' || true)
[ -z "$hits" ] || say "only BrokerContactsStore and BrokerDisclosure may import a contact's stored bytes: $hits"

# The event loop closes no socket of a peer itself, because that can wait (Documentation/Decisions/0006-own-event-loop-instead-of-nio.md).
hits=$(git grep -nE '(^|[^a-zA-Z_.])(Glibc\.)?close\([a-z.]*descriptor' -- Sources/BrokerVarlinkServer ':!Sources/BrokerVarlinkServer/Closer.swift' || true)
[ -z "$hits" ] || say "Closer must close sockets: $hits"

# contactbook shows that the library Contacts is enough for a whole program.
hits=$(git grep -nE '^(@preconcurrency )?import (BrokerVarlink|BrokerVarlinkClient|BrokerConnection|BrokerInterface|BrokerAccessControl|BrokerJSON)$' -- Sources/contactbook || true)
[ -z "$hits" ] || say "contactbook may reach the broker only through Contacts: $hits"

# Every question is asked by Speech, which discards what was typed before it; the agent's screens do the same.
hits=$(git grep -nE '"/dev/tty"|\b(readLine|getpass)\(' -- Sources ':!Sources/BrokerCommandOutput/Speech.swift' ':!Sources/contact-agent/Terminal.swift' ':!Sources/contact-agent/LineTerminal.swift' || true)
[ -z "$hits" ] || say "ask with Speech.confirm or Speech.key: $hits"

# Shells get only words that they take as they are.
hits=$(git grep -nE '\.custom(Async)? *[({]' -- Sources ':!Sources/BrokerCommandOutput/ShellWord.swift' || true)
[ -z "$hits" ] || say "complete words of apps and users with .words, which leaves out what a shell could run: $hits"

# The daemon and its modules must not import Foundation (Documentation/Decisions/0015-no-foundation-in-the-broker.md).
for room in BrokerTrustedFiles BrokerPolicy BrokerContactsStore BrokerAccessStore BrokerManifests BrokerVarlinkServer BrokerSystem BrokerParameters BrokerLedger BrokerBooks BrokerGrants BrokerCalls BrokerAppCalls BrokerPersonCalls BrokerAdminCalls BrokerCore contactbrokerd; do
    hits=$(git grep -nE '^(@preconcurrency )?import ((struct|class|enum|func) )?(Foundation|ArgumentParser)' -- "Sources/$room" || true)
    [ -z "$hits" ] || say "the broker must not import this; Foundation would be a quarter of its memory: $hits"
done

hits=$(git grep -nE '\b(TODO|FIXME|XXX)\b' -- Sources Tests Examples Benchmarks ':!Tests/lint.sh' || true)
[ -z "$hits" ] || say "unfinished work: $hits"

# Phrases that were replaced, in what readers of code and documents see.
hits=$(git grep -niwE 'the telling|so sure|is heard|onto the disk|of all doors|beside the loop|connects anew|text of strangers|is told apart' -- Sources Tests Benchmarks Examples Documentation README.md packaging systemd policy ':!Sources/contact-agent' ':!Sources/contactctl' ':!Sources/contactbook' ':!Documentation/Glossary.md' ':!Tests/lint.sh' || true)
[ -z "$hits" ] || say "a retired phrase: $hits"

# One version (Documentation/Releasing.md).
version=$(sed -n 's/.*static let version = "\(.*\)"/\1/p' Sources/BrokerInterface/ContactsInterface.swift)
hits=$(git grep -nE 'version(:| =) "[a-z ]*[0-9]+\.[0-9]+\.[0-9]+"' -- Sources | grep -vF "$version\"" || true)
[ -z "$hits" ] || say "not version $version: $hits"

subject=$(git log -1 --format=%s 2>/dev/null || true)
# A service that merges writes its own subject.
case $subject in "Merge "*) subject= ;; esac
[ "${#subject}" -lt 72 ] || say "the last commit's subject has 72 characters or more: $subject"

sh Tests/units.sh || found=1

for script in $(git ls-files "*.sh" packaging) .ci/run; do
    case $(head -n 1 "$script") in "#!/bin/sh"*) sh -n "$script" || found=1 ;; esac
done
exit $found
