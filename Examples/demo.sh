#!/bin/sh
# The main job, once, for real: an address book is filled, an app asks for one contact, a person answers, the app
# receives exactly that, and it is on record. Everything happens in a scratch folder and nothing of it stays.
#
# At a terminal, you are the person. Without one, a scripted person answers in a real pseudo-terminal.
# usage: demo.sh FOLDER-OF-THE-PROGRAMS
set -eu

programs=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
CONTACTBROKER_RUNTIME_DIR=$folder/run
# What contactbook notes for undo goes with the folder, too.
XDG_STATE_HOME=$folder/own
export CONTACTBROKER_RUNTIME_DIR XDG_STATE_HOME
broker=
app=

cleanup() {
    for each in $app $broker; do kill "$each" 2>/dev/null || true; done
    for each in $app $broker; do wait "$each" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

say() { printf '\n== %s\n' "$1"; }

# Lets the person answer one prompt. $1…: the scripted person's TEXT KEYS, used only where there is no terminal.
answer() {
    if [ "${DEMO_SCRIPTED:-}" != yes ] && [ -t 0 ] && [ -t 1 ]; then
        "$programs/contact-agent" --once || true
    else
        "$programs/ScriptedPerson" "$@" -- "$programs/contact-agent" --once
    fi
}

say "a broker for this session, in a scratch folder"
"$programs/contactbrokerd" --session --runtime-dir "$folder/run" --state-dir "$folder/state" \
    --config-dir "$folder/config" 2>"$folder/journal" &
broker=$!
tries=0
until "$programs/contactctl" status >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 100 ] || ! kill -0 "$broker" 2>/dev/null; then
        cat "$folder/journal" >&2
        exit 1
    fi
    sleep 0.1
done
echo "contactbrokerd --session, process $broker"

say "contactbook imports sample contacts; it is an app like any other, so it asks first"
"$programs/contactbook" import "$here/sample.vcf" >"$folder/import" 2>&1 &
app=$!
answer "asks to see your contacts" c "What may" a
wait "$app" && imported=yes || imported=no
app=
cat "$folder/import"
if [ "$imported" = no ]; then
    echo "Nothing was imported, so there is nothing to ask for. That is a fine answer too."
    exit 0
fi

say "an app asks for one contact by name: AskForContact saga"
"$programs/AskForContact" saga >"$folder/received" 2>&1 &
app=$!
answer "looks for" s "Only this contact" y
wait "$app" || true
app=

say "what the app received: that contact, and no word of the others"
cat "$folder/received"

say "who may see what (contactctl apps)"
"$programs/contactctl" apps

say "what is on record (contactctl audit)"
"$programs/contactctl" audit

say "the record is whole (contactctl verify)"
"$programs/contactctl" verify
