#!/bin/sh
# Fuzzes the reader of vCards, and with it the writer: fuzz.sh [SECONDS]. Built in .build-fuzz; what it finds is put there.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-120}
out=.build-fuzz
swiftc=${SWIFTC:-swiftc}
mkdir -p "$out/corpus" "$out/findings"

# Each room by itself, in the order of Package.swift; SwiftPM would instrument the programs too, which have a main of their own.
room() {
    name=$1
    shift
    "$swiftc" -swift-version 6 -O -whole-module-optimization -parse-as-library -sanitize=fuzzer -module-name "$name" \
        -emit-module -emit-module-path "$out/$name.swiftmodule" -I "$out" -I Sources/CICU/include -Xcc -fmodule-map-file="$out/CICU.modulemap" -c "$@" -o "$out/$name.o"
}
printf 'module CICU { header "%s" export * }\n' "$PWD/Sources/CICU/include/cicu.h" >"$out/CICU.modulemap"
clang=$(dirname "$(command -v "$swiftc")")/clang
[ -x "$clang" ] || clang=clang
for each in Sources/CICU/*.c; do "$clang" -O -c "$each" -I Sources/CICU/include -o "$out/CICU-$(basename "$each" .c).o"; done
room JSON Sources/JSON/*.swift
room ContactsModel Sources/ContactsModel/*.swift
room VCard Sources/VCard/*.swift
room FuzzVCard Tests/Fuzz/FuzzVCard.swift
"$swiftc" -sanitize=fuzzer "$out"/*.o -licui18n -licuuc -o "$out/fuzz-vcard"

# A card of a megabyte takes no gigabyte, and no second.
"$out/fuzz-vcard" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -dict=Tests/Fuzz/vcard.dict \
    -artifact_prefix="$out/findings/" -print_final_stats=1 "$out/corpus" Tests/Fuzz/Seeds
