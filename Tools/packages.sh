#!/bin/sh
# Checks or installs Debian packages, for the Makefile. Only `install` calls sudo, and only if it is not run as root.
#
# usage: Tools/packages.sh check PACKAGE...      names the missing packages, and fails if there are any
#        Tools/packages.sh install PACKAGE...    installs the missing packages
set -eu
action=$1
shift

command -v dpkg-query >/dev/null || {
    echo "cannot check packages: this system has no dpkg-query; install what Debian calls: $*" >&2
    exit 0
}

missing=
for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$action" = check ]; then
    echo "missing Debian packages:$missing; run: make setup" >&2
    exit 1
fi

if [ "$(id -u)" = 0 ]; then
    sudo=
    echo "installing Debian packages:$missing"
elif command -v sudo >/dev/null; then
    sudo=sudo
    echo "installing Debian packages with sudo:$missing"
else
    echo "cannot install Debian packages:$missing; there is no sudo; run as root: apt-get install$missing" >&2
    exit 1
fi
# Another apt may hold dpkg's lock, for example an automatic upgrade.
$sudo apt-get -o DPkg::Lock::Timeout=300 update -qq
# $missing is a list of words.
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $missing
