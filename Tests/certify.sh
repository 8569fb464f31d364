#!/bin/sh
# Runs the certification client of the Python package varlink against our server, and shows what it says.
# It prints "passed" even where checks were skipped, so its output is what counts.
set -eu

cd "$(dirname "$0")/.."
build=${SWIFT_BUILD:-swift build}
folder=$(mktemp -d)
server=
cleanup() {
    exec 9>&- || true
    if [ -n "$server" ]; then wait "$server" 2>/dev/null || true; fi
    rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

$build --product CertificationServer
binary=$($build --show-bin-path)/CertificationServer

if python3 -m venv "$folder/venv" >"$folder/venv.log" 2>&1; then
    python=$folder/venv/bin/python
    "$python" -m pip install --quiet --disable-pip-version-check varlink==31.0.0
else
    # Debian ships venv in a package of its own.
    python=python3
    python3 -m pip install --quiet --disable-pip-version-check --target "$folder/site" varlink==31.0.0
    export PYTHONPATH="$folder/site"
fi

socket=$folder/certification
mkfifo "$folder/stdin" "$folder/stdout"
"$binary" "$socket" <"$folder/stdin" >"$folder/stdout" &
server=$!
exec 9>"$folder/stdin"
read -r ready <"$folder/stdout"
[ "$ready" = ready ]

timeout 60 "$python" -m varlink.tests.test_certification --client --varlink="unix:$socket" >"$folder/output" 2>&1 ||
    { cat "$folder/output"; echo "certify: the client failed" >&2; exit 1; }
cat "$folder/output"

replies=$(grep -c '^Test10:' "$folder/output" || true)
if ! grep -qF "End: {'all_ok': True}" "$folder/output"; then
    echo "certify: the client did not reach its end" >&2
    exit 1
fi
if [ "$replies" != 10 ]; then
    echo "certify: $replies replies to Test10 instead of 10" >&2
    exit 1
fi
