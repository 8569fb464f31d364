#!/bin/sh
# What a formatter does not see. Prints what it finds, and fails if that is anything.
set -u
cd "$(dirname "$0")/.."
found=0

say() {
    printf '%s\n' "$1" >&2
    found=1
}

# Needs the sentence that proves it: a comment on the same line or in the two lines above.
for file in $(git ls-files 'Sources/*.swift' 'Examples/*.swift' 'Benchmarks/*.swift'); do
    hits=$(awk '
        /try!|fatalError\(|nonisolated\(unsafe\)|unsafeBitCast|[^a-z]as! / && !/^ *\/\// {
            if ($0 !~ /\/\// && last !~ /\/\// && before !~ /\/\//) print FILENAME ":" FNR ": " $0
        }
        { before = last; last = $0 }' "$file")
    [ -z "$hits" ] || say "without the sentence that proves it: $hits"
done

# Rooms that have grown too large to hold in the head.
for file in $(git ls-files 'Sources/*.swift' 'Tests/*.swift' 'Benchmarks/*.swift' 'Benchmarks/*.c'); do
    lines=$(wc -l <"$file")
    [ "$lines" -le 400 ] || say "more than 400 lines: $file ($lines)"
done

# A target may import only what Package.swift says it sees; ground-floor targets do no input and no output.
for room in BrokerJSON BrokerModel BrokerNormalization BrokerFormatting BrokerVarlink BrokerVCard BrokerContactFiles BrokerAccessControl BrokerDisclosure BrokerInterface; do
    hits=$(git grep -nE '^(@preconcurrency )?import (Foundation|FoundationEssentials|Dispatch|GRDB)' -- "Sources/$room" || true)
    [ -z "$hits" ] || say "the ground floor does no input and no output: $hits"
done
hits=$(git grep -nE '^(@preconcurrency )?import Foundation$' -- Sources/contact-agent Sources/contactctl Sources/contactbroker-identify Sources/BrokerPeerIdentity Sources/BrokerVarlinkClient Sources/BrokerConnection || true)
[ -z "$hits" ] || say "Foundation doubles the start of a small program: $hits"

# Contact data has one way out of the broker (Sources/BrokerCore/Records/DisclosedReply.swift).
hits=$(git grep -nE '@_spi\(Disclosed\).*import' -- Sources ':!Sources/BrokerCore/Records/DisclosedReply.swift' || true)
[ -z "$hits" ] || say "only DisclosedReply.swift reads what was cut for an app: $hits"
hits=$(git grep -nE '@_spi\(StoredBytes\).*import' -- Sources ':!Sources/BrokerContactsStore' ':!Sources/BrokerDisclosure' || true)
[ -z "$hits" ] || say "only the store and the disclosure read a contact's bytes: $hits"

# The proof that the library is enough for a whole program.
hits=$(git grep -nE '^(@preconcurrency )?import (BrokerVarlink|BrokerVarlinkClient|BrokerConnection|BrokerInterface|BrokerAccessControl|BrokerJSON)$' -- Sources/contactbook || true)
[ -z "$hits" ] || say "contactbook speaks to the broker through Contacts alone: $hits"

# Neither the daemon nor what it is made of (Documentation/Decisions/0015-no-foundation-in-the-broker.md).
for room in BrokerTrustedFiles BrokerPolicy BrokerContactsStore BrokerAccessStore BrokerManifests BrokerVarlinkServer BrokerSystem BrokerCore contactbrokerd; do
    hits=$(git grep -nE '^(@preconcurrency )?import ((struct|class|enum|func) )?(Foundation|GRDB$|ArgumentParser|TOMLKit)' -- "Sources/$room" || true)
    [ -z "$hits" ] || say "Foundation is a quarter of the broker's memory: $hits"
done

hits=$(git grep -nE '\b(TODO|FIXME|XXX)\b' -- Sources Tests Examples Benchmarks ':!Tests/lint.sh' || true)
[ -z "$hits" ] || say "unfinished: $hits"

sh Tests/units.sh || found=1

for script in $(git ls-files "*.sh" packaging) .ci/run; do
    case $(head -n 1 "$script") in "#!/bin/sh"*) sh -n "$script" || found=1 ;; esac
done
exit $found
