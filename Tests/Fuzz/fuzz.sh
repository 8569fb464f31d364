#!/bin/sh
# Fuzzes the vCard reader and writer in .build-fuzz. Findings are in .build-fuzz/findings.
# usage: fuzz.sh [SECONDS]
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-120}
out=.build-fuzz
swiftc=${SWIFTC:-swiftc}
mkdir -p "$out/corpus" "$out/findings"

# Builds a module. SwiftPM is not used: it would also instrument the programs, whose main conflicts with libFuzzer's.
room() {
    name=$1
    shift
    "$swiftc" -swift-version 6 -O -whole-module-optimization -parse-as-library -sanitize=fuzzer -package-name contactbroker \
        -module-name "$name" \
        -emit-module -emit-module-path "$out/$name.swiftmodule" -I "$out" -I Sources/CBrokerICU/include -Xcc -fmodule-map-file="$out/CBrokerICU.modulemap" -c "$@" -o "$out/$name.o"
}
printf 'module CBrokerICU { header "%s" export * }\n' "$PWD/Sources/CBrokerICU/include/cicu.h" >"$out/CBrokerICU.modulemap"
clang=$(dirname "$(command -v "$swiftc")")/clang
[ -x "$clang" ] || clang=clang
for each in Sources/CBrokerICU/*.c; do "$clang" -O -c "$each" -I Sources/CBrokerICU/include -o "$out/CBrokerICU-$(basename "$each" .c).o"; done
room BrokerJSON Sources/BrokerJSON/*.swift
room BrokerModel Sources/BrokerModel/*.swift
# Only the files that format a name: the others need libphonenumber and SwiftPM's generated code for resources.
formatting=Sources/BrokerFormatting
room BrokerFormatting $formatting/ContactNameFormatter.swift $formatting/NameScript.swift $formatting/NameOrderRule.swift \
    $formatting/FormattedRun.swift $formatting/DisplayText.swift $formatting/CharacterWidth.swift \
    $formatting/Bidirectional.swift $formatting/CText.swift
room BrokerVCard Sources/BrokerVCard/*.swift
room FuzzVCard Tests/Fuzz/FuzzVCard.swift
"$swiftc" -sanitize=fuzzer "$out"/*.o -licui18n -licuuc -o "$out/fuzz-vcard"

# The limits of memory and time per input are generous: a card of a megabyte needs less than a second and a gigabyte.
"$out/fuzz-vcard" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -dict=Tests/Fuzz/vcard.dict \
    -artifact_prefix="$out/findings/" -print_final_stats=1 "$out/corpus" Tests/Fuzz/Seeds
