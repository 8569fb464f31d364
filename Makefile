# The one entrance. A fresh Debian 12 with a Swift toolchain needs nothing else: what is missing is installed.

SWIFT ?= swift
# A target that imports what Package.swift does not say it depends on is an error.
BUILD = $(SWIFT) build --explicit-target-dependency-import-check error
PREFIX ?= /usr/local
DEBUG := $(shell pwd)/.build/debug
RELEASE := $(shell pwd)/.build/release
# Python with the package varlink: the other implementation that the tests hold ours against.
VENV := $(shell pwd)/.build/python
# A crashing test must end, not wait for a backtrace.
export SWIFT_BACKTRACE = enable=no

# What make deb needs beside that.
DEB_PACKAGES := dpkg-dev binutils

# What make test-system needs beside that: a container, and what makes its root.
SYSTEM_TEST_PACKAGES := mmdebstrap systemd-container zstd gcc libc6-dev $(DEB_PACKAGES)
PACKAGES := libsqlite3-dev libssl-dev libicu-dev libphonenumber-dev libsystemd-dev libtomlplusplus-dev libxxhash-dev libjpeg62-turbo-dev libpng-dev \
    pkg-config python3 python3-venv

.PHONY: all demo test test-system interop fuzz lint bench bench-peer benchmarks certify release install tsan asan clean packages python uninstall deb
.DEFAULT_GOAL := all

all: packages
	$(BUILD)

# A bus and polkit for tests that ask for real passwords.
TEST_PACKAGES := dbus polkitd

test tsan asan: PACKAGES += $(TEST_PACKAGES)

# Installs Debian's packages that are not there yet.
packages:
	@missing=; for each in $(PACKAGES); do \
	    dpkg-query -W -f '$${Status}' $$each 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$each"; \
	done; \
	if [ -n "$$missing" ]; then \
	    if [ "$$(id -u)" = 0 ]; then run=; else run=sudo; fi; \
	    echo "installing$$missing"; \
	    $$run apt-get -o DPkg::Lock::Timeout=300 update -qq && \
	    $$run env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq \
	        --no-install-recommends $$missing; \
	fi

python: packages
	@test -x $(VENV)/bin/python || /usr/bin/python3 -m venv $(VENV)
	@$(VENV)/bin/python -c 'import varlink' 2>/dev/null || \
	    $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check varlink==31.0.0
	@$(VENV)/bin/python -c 'import vobject' 2>/dev/null || \
	    $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check vobject==0.9.9

# The main job in this terminal; without a terminal a scripted person plays it through a pseudo-terminal.
demo: packages
	$(BUILD) --build-tests
	Examples/demo.sh $(DEBUG)

# Everything that needs no root. What root makes possible is tried where it is there, and said where it is not.
test: packages python
	$(BUILD) --build-tests
	CONTACTBROKER_PYTHON=$(VENV)/bin/python $(SWIFT) test --skip-build
	DEMO_SCRIPTED=yes Examples/demo.sh $(DEBUG) </dev/null >.build/demo.txt 2>&1 || { cat .build/demo.txt; exit 1; }
	CONTACTBROKER_PYTHON=$(VENV)/bin/python Tests/certify.sh >.build/certify.txt 2>&1 || { cat .build/certify.txt; exit 1; }

# The Python package varlink certifies our server, and our client.
certify: packages python
	CONTACTBROKER_PYTHON=$(VENV)/bin/python Tests/certify.sh

# The installed system under a real systemd, and everybody who tries to get at it. As root, 10 minutes at most; says what
# it skipped where there is no root or no namespaces. ONLY="flood helper" tries these adversaries alone.
test-system: packages
	@if [ "$$(id -u)" = 0 ]; then $(MAKE) --no-print-directory packages PACKAGES="$(SYSTEM_TEST_PACKAGES)"; fi
	$(BUILD) -c release
	Tests/System/test-system $(ONLY)

# What three other parsers read in the cards that we write: python-vobject, libebook of GNOME's Evolution, ez-vcard.
INTEROP_PACKAGES := gir1.2-ebookcontacts-1.2 python3-gi libez-vcard-java libvinnie-java default-jdk-headless

interop: packages python
	@$(MAKE) --no-print-directory packages PACKAGES="$(INTEROP_PACKAGES)"
	$(BUILD) --build-tests
	CONTACTBROKER_PYTHON=$(VENV)/bin/python $(SWIFT) test --skip-build --filter InteropTests

# libFuzzer on the reader of vCards, and with it the writer. FUZZ_SECONDS=600 takes ten minutes; what it finds is in .build-fuzz.
FUZZ_SECONDS ?= 120
fuzz: packages
	Tests/Fuzz/fuzz.sh $(FUZZ_SECONDS)

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources
	Tests/lint.sh
	Tests/threats.sh

# The peer that make bench compares with, and what builds and isolates its app.
PEER_PACKAGES := evolution-data-server libebook1.2-dev dbus-daemon dbus-session-bus-common util-linux
PEER := Benchmarks/.build/release/contactbroker-bench-peer

# Ours, evolution-data-server and the floor in one run: a table and .build/bench.json.
# BENCH=full also measures 100,000 contacts, BENCH=many only those. BENCH=lookups, saves, import or callers measures that part.
# BENCH=million searches 1,000,000 contacts; making that book takes minutes, and it stays in .build for the next run.
bench: packages python
	$(BUILD) -c release --product contactbrokerd
	$(BUILD) -c release --product contactbook
	$(BUILD) -c release --product contactbroker-identify
	$(BUILD) --package-path Benchmarks -c release --product contactbroker-bench
	@$(MAKE) --no-print-directory bench-peer || echo "evolution-data-server could not be installed: measuring without the peer"
	CONTACTBROKER_PYTHON=$(VENV)/bin/python Benchmarks/.build/release/contactbroker-bench .build $(BENCH)

# Only compiles the benchmark, so that it keeps up with what it measures.
benchmarks: packages
	$(BUILD) --package-path Benchmarks

# SwiftPM cannot build it without warnings: libebook's pkg-config file has flags that SwiftPM does not let through.
bench-peer:
	@rm -f $(PEER)
	@$(MAKE) --no-print-directory packages PACKAGES="$(PEER_PACKAGES)"
	$(CLANG) -std=gnu17 -O2 -Wall -Wextra -Werror -D GLIB_DISABLE_DEPRECATION_WARNINGS Benchmarks/Peer/*.c \
	    $$(pkg-config --cflags --libs libebook-1.2) -o $(PEER)

# What is installed is built otherwise than what is tested: the optimizer must get through it too.
release: packages
	$(BUILD) -c release

# Where what was built is taken from; another folder is installed as it is.
PROGRAMS ?= $(RELEASE)

# Programs, units, users, settings: DESTDIR and PREFIX as everywhere.
install: $(if $(filter $(RELEASE),$(PROGRAMS)),release)
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" packaging/install "$(PROGRAMS)"

uninstall:
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" packaging/uninstall

# A package for Debian, in .build/deb.
deb: PACKAGES += $(DEB_PACKAGES)
deb: $(if $(filter $(RELEASE),$(PROGRAMS)),release)
	mkdir -p .build/deb
	rm -f .build/deb/*.deb
	packaging/debian/build "$(PROGRAMS)" "$(shell pwd)/.build/deb"

# Sanitizers build in folders of their own: switching flags in one costs a whole build.
# The object that is linked into every program tells the sanitizer of Swift's mutexes, and has what it finds written into a
# folder: a program that a test starts may have neither its environment nor its standard error. Ten minutes and more.
TSAN := $(shell pwd)/.build-tsan
CLANG ?= $(dir $(shell readlink -f "$$(command -v $(firstword $(SWIFT)))"))clang
tsan: packages python
	rm -rf $(TSAN)/reports && mkdir -p $(TSAN) && mkdir -m 1777 $(TSAN)/reports
	$(CLANG) -c -O1 -D 'REPORTS="$(TSAN)/reports/race"' Tests/Support/ThreadSanitizer/mutex.c -o $(TSAN)/mutex.o
	CONTACTBROKER_PYTHON=$(VENV)/bin/python $(SWIFT) test --scratch-path $(TSAN) --sanitize=thread \
	    -Xlinker $(TSAN)/mutex.o --disable-xctest
	@if [ -n "$$(ls $(TSAN)/reports)" ]; then cat $(TSAN)/reports/*; exit 1; fi

asan: packages python
	CONTACTBROKER_PYTHON=$(VENV)/bin/python $(SWIFT) test --scratch-path .build-asan --sanitize=address \
	    --disable-xctest

clean:
	rm -rf .build .build-* Benchmarks/.build
