#!/bin/sh
# Shows the main use: imports contacts, has an app ask for one of them, and has a person answer. The app receives exactly
# that contact, and the audit records it. Then a program in a declared folder is built twice, and stays the same app.
# Everything is in a temporary folder, which is removed at the end.
#
# At a terminal, you are the person. Without one, a script answers in a pseudo-terminal.
# usage: demo.sh FOLDER-OF-THE-PROGRAMS
set -eu

programs=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
CONTACTBROKER_RUNTIME_DIR=$folder/run
# contactbook's own files are in the temporary folder too.
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

# Lets the person answer one prompt. $1…: the script's TEXT KEYS, used only without a terminal.
answer() {
    if [ "${DEMO_SCRIPTED:-}" != yes ] && [ -t 0 ] && [ -t 1 ]; then
        "$programs/contact-agent" --once || true
    else
        "$programs/ScriptedPerson" "$@" -- "$programs/contact-agent" --once
    fi
}

# Lets an app look for one contact. $1: the app; $2: the query; the rest as for answer.
look_for() {
    "$1" "$2" >"$folder/received" 2>&1 &
    app=$!
    shift 2
    answer "$@"
    wait "$app" || true
    app=
}

# Lets the person declare the folder of a program that is being developed. $1: the folder.
declare_folder() {
    if [ "${DEMO_SCRIPTED:-}" != yes ] && [ -t 0 ] && [ -t 1 ]; then
        echo "Press d, n and Return, then y, Escape and q. Press Return to begin."
        read -r _
        (cd "$1" && "$programs/contact-agent") || true
    else
        (cd "$1" && "$programs/ScriptedPerson" "[d] Folders" d "You declared no folder" n "Which folder" "$(printf '\r')" \
            "[y] Yes, declare" y "Declared until" "$(printf '\033')" "Waiting for apps" q -- "$programs/contact-agent")
    fi
}

say "Starting a broker for this session, in a temporary folder"
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

say "contactbook imports sample contacts. Like every app, it needs your permission"
"$programs/contactbook" import "$here/sample.vcf" >"$folder/import" 2>&1 &
app=$!
answer "asks to see your contacts" a "It will see contacts that you add later" y
wait "$app" && imported=yes || imported=no
app=
cat "$folder/import"
if [ "$imported" = no ]; then
    echo "Nothing was imported, so the demonstration ends here."
    exit 0
fi

say "An app asks for one contact by name: AskForContact saga"
look_for "$programs/AskForContact" saga "looks for" s "Only this contact" y

say "What the app received: only that contact"
cat "$folder/received"

say "You develop AskForContact yourself. Declare its folder, and it stays the same app whenever you build it"
project=$folder/project
mkdir -m 755 "$project"
cp "$programs/AskForContact" "$project/AskForContact"
declare_folder "$project"
look_for "$project/AskForContact" ngozi "looks for" s "Only this contact" y
cat "$folder/received"

say "After another build it is the same app: it is not introduced again, and keeps what it has"
printf 'another build' >>"$project/AskForContact"
look_for "$project/AskForContact" saga "looks for" s
cat "$folder/received"

say "Which app may see what: contactctl apps"
"$programs/contactctl" apps

say "The audit records: contactctl audit"
"$programs/contactctl" audit

say "Verifying the audit: contactctl verify"
"$programs/contactctl" verify
