#!/bin/sh
# Checks that every test that Documentation/Threats.md names exists, and that it names every adversary.
set -u
cd "$(dirname "$0")/.."
found=0

say() {
    printf '%s\n' "$1" >&2
    found=1
}

for each in $(grep -oE '`[0-9]{2}-[a-z-]+`' Documentation/Threats.md | tr -d '`' | sort -u); do
    [ -f "Tests/System/adversaries/$each.py" ] || say "Threats.md names an adversary that does not exist: $each"
done
for each in Tests/System/adversaries/*.py; do
    name=$(basename "$each" .py)
    grep -qF "\`$name\`" Documentation/Threats.md || say "Threats.md does not mention this adversary: $name"
done
for each in $(grep -oE '`[A-Z][A-Za-z]*Tests\.[A-Za-z]+`' Documentation/Threats.md | tr -d '`' | sort -u); do
    grep -qE "func ${each#*.}\b" $(git ls-files "Tests/*/${each%.*}.swift") /dev/null ||
        say "Threats.md names a test that does not exist: $each"
done
exit $found
