#!/bin/sh
# Has systemd's tools check our units, users, folders and catalog. Any output is a failure: they only warn about unknown keys.
set -u
cd "$(dirname "$0")/.."
for each in systemd-analyze systemd-sysusers systemd-tmpfiles; do
    command -v $each >/dev/null || { echo "units: skipped, $each is missing" >&2; exit 0; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=0

say() {
    printf '%s\n' "$1" >&2
    found=1
}

# Units as installed, with programs at the paths that they name.
mkdir "$scratch/system" "$scratch/user" "$scratch/programs"
for each in contactbrokerd contactbroker-identify contact-agent; do cp /bin/true "$scratch/programs/$each"; done
for each in systemd/*.socket; do cp "$each" "$scratch/system/"; done
for each in systemd/*.service.in; do
    name=$(basename "$each" .in)
    manager=system
    case $name in contact-agent-*) manager=user ;; esac
    sed -e "s|@bindir@|$scratch/programs|g" -e "s|@libexecdir@|$scratch/programs|g" "$each" >"$scratch/$manager/$name"
done
# Older versions of systemd do not have this setting, and ignore it.
said=$(systemd-analyze verify --man=no "$scratch"/system/* 2>&1 | grep -v "Unknown key.* 'AcceptFileDescriptors'")
[ -z "$said" ] || say "$said"
said=$(XDG_RUNTIME_DIR=$scratch systemd-analyze --user verify --man=no "$scratch"/user/* 2>&1)
[ -z "$said" ] || say "$said"

# Exposure in tenths: 15 is 1.5.
for each in contactbroker:15 contactbroker-identify:15; do
    unit=$scratch/system/${each%:*}.service
    said=$(systemd-analyze security --offline=true --no-pager --threshold="${each#*:}" "$unit" 2>&1) ||
        say "$(printf '%s\n' "$said" | tail -n 1)"
done

# Users, groups and folders, in an empty root.
mkdir -p "$scratch/root/etc"
said=$(systemd-sysusers --root="$scratch/root" "$PWD/systemd/sysusers.d/contactbroker.conf" 2>&1 | grep -v '^Creating ')
[ -z "$said" ] || say "$said"
for each in contactbroker contactbroker-identify; do
    grep -q "^$each:" "$scratch/root/etc/passwd" || say "sysusers does not make the user $each"
done
grep -q '^contact-agent:' "$scratch/root/etc/group" || say "sysusers does not make the group contact-agent"
if [ "$(id -u)" = 0 ]; then
    said=$(systemd-tmpfiles --root="$scratch/root" --create "$PWD/systemd/tmpfiles.d/contactbroker.conf" 2>&1)
    [ -z "$said" ] || say "$said"
    for each in apps agent admin identify; do
        [ "$(stat -c '%U %a' "$scratch/root/run/contactbroker/$each" 2>/dev/null)" = "root 755" ] ||
            say "tmpfiles does not make a folder that belongs to root for $each"
    done
fi

# The catalog must be readable for journalctl.
if command -v journalctl >/dev/null; then
    mkdir -p "$scratch/root/usr/lib/systemd/catalog" "$scratch/root/var/lib/systemd/catalog"
    cp systemd/contactbroker.catalog "$scratch/root/usr/lib/systemd/catalog/"
    said=$(journalctl --root="$scratch/root" --update-catalog 2>&1)
    [ -z "$said" ] || say "$said"
    entries=$(journalctl --root="$scratch/root" --list-catalog 2>/dev/null | wc -l)
    [ "$entries" = "$(grep -c '^-- ' systemd/contactbroker.catalog)" ] || say "journalctl reads only $entries entries of the catalog"
fi
exit $found
