#!/bin/sh
# Tests our Varlink against the Python package varlink: Python parses our interfaces, its certification client calls our
# server, and our client calls its certification server. Prints the output of both.
# Python's client prints "passed" even if it skipped checks, so this script checks its output.
# usage: CONTACTBROKER_PYTHON=PYTHON certify.sh, where PYTHON has the package varlink
set -eu

cd "$(dirname "$0")/.."
python=${CONTACTBROKER_PYTHON:?set it to a Python that has the package varlink}
build=${SWIFT_BUILD:-swift build}
folder=$(mktemp -d)
server=
cleanup() {
    exec 9>&- || true
    # Python's server does not end by itself.
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

$build --product CertificationServer
$build --product CertificationClient
programs=$($build --show-bin-path)

echo "== our interfaces, parsed by Python"
"$python" - Sources/BrokerInterface/Interfaces/*.varlink <<'END'
import sys, varlink
for path in sys.argv[1:]:
    interface = varlink.Interface(open(path).read())
    print(interface.name, len(interface.members), "members")
END

echo "== Python's client, our server"
socket=$folder/ours
mkfifo "$folder/stdin" "$folder/stdout"
"$programs/CertificationServer" "$socket" <"$folder/stdin" >"$folder/stdout" &
server=$!
exec 9>"$folder/stdin"
read -r ready <"$folder/stdout"
[ "$ready" = ready ]

timeout 60 "$python" -m varlink.tests.test_certification --client --varlink="unix:$socket" >"$folder/output" 2>&1 ||
    { cat "$folder/output"; echo "certify: Python's client failed" >&2; exit 1; }
cat "$folder/output"
# Our server ends when its standard input is closed.
exec 9>&-
wait "$server" || { echo "certify: our server failed" >&2; exit 1; }
server=

replies=$(grep -c '^Test10:' "$folder/output" || true)
if ! grep -qF "End: {'all_ok': True}" "$folder/output"; then
    echo "certify: Python's client did not complete all tests" >&2
    exit 1
fi
if [ "$replies" != 10 ]; then
    echo "certify: $replies replies to Test10 instead of 10" >&2
    exit 1
fi

echo "== our client, Python's server"
socket=$folder/theirs
mkfifo "$folder/listening"
# The server prints its address once it listens.
timeout 120 "$python" -u -m varlink.tests.test_certification --varlink="unix:$socket" \
    >"$folder/listening" 2>"$folder/journal" &
server=$!
exec 8<"$folder/listening"
if ! read -r listening <&8; then
    cat "$folder/journal" >&2
    echo "certify: Python's server did not start" >&2
    exit 1
fi
echo "$listening"
timeout 60 "$programs/CertificationClient" "$socket" ||
    { cat "$folder/journal" >&2; echo "certify: our client failed" >&2; exit 1; }
