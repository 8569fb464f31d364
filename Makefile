# Builds, tests and installs contactbroker. `make help` lists the targets.
#
# A fresh Debian 12 with a Swift toolchain needs nothing else. The targets that run something, such as demo and test,
# install the Debian packages that they need, and say so. Plain make, release, benchmarks and install only check that
# the packages are installed.

SWIFT ?= swift
# A target may import only the targets that Package.swift lists as its dependencies.
BUILD = $(SWIFT) build --explicit-target-dependency-import-check error
PREFIX ?= /usr/local
DEBUG := $(CURDIR)/.build/debug
RELEASE := $(CURDIR)/.build/release
# The programs that install and deb take. They build the release first, unless PROGRAMS names another folder.
PROGRAMS ?= $(RELEASE)
RELEASE_TARGET := $(if $(filter $(RELEASE),$(PROGRAMS)),release)
# The Python of the tests. The tests compare our implementations with those of its packages varlink and vobject.
PYTHON := $(CURDIR)/.build/python/bin/python
PYTHON_PACKAGES := varlink==31.0.0 vobject==0.9.9
# The Clang of the Swift toolchain.
CLANG ?= $(dir $(shell readlink -f "$$(command -v $(firstword $(SWIFT)))"))clang
# A test that crashes ends at once; a backtrace would take long.
export SWIFT_BACKTRACE = enable=no

# Debian packages, in groups. `make setup-GROUP` installs PACKAGES_GROUP.
PACKAGES_build := libsqlite3-dev libssl-dev libicu-dev libphonenumber-dev libsystemd-dev libtomlplusplus-dev libxxhash-dev \
    libjpeg62-turbo-dev libpng-dev libncurses-dev libexpat1-dev pkg-config
PACKAGES_python := python3 python3-venv
# A bus and polkit, for tests that ask for real passwords; age, which encrypts backups.
PACKAGES_test := dbus polkitd age bash zsh fish strace
PACKAGES_deb := dpkg-dev binutils
# The programs that run a container, and those that create its root file system.
PACKAGES_system := mmdebstrap systemd-container zstd gcc libc6-dev $(PACKAGES_deb)
# Other vCard parsers: libebook of GNOME Evolution, and ez-vcard. Programs that use our folders and LDIF.
PACKAGES_interop := gir1.2-ebookcontacts-1.2 python3-gi libez-vcard-java libvinnie-java default-jdk-headless \
    vdirsyncer khard abook
# Programs that speak CardDAV.
PACKAGES_clients := evolution-data-server gir1.2-ebook-1.2 gir1.2-edataserver-1.2 gir1.2-ebookcontacts-1.2 python3-gi \
    dbus-daemon vdirsyncer khard
# GNOME evolution-data-server, with which bench compares the broker, and the programs that build and isolate its app.
PACKAGES_peer := evolution-data-server libebook1.2-dev dbus-daemon dbus-session-bus-common util-linux
# Counts the broker's instructions for bench.
PACKAGES_counter := valgrind binutils
# The browser that makes the pictures of the documentation, and a font for it.
PACKAGES_pictures := chromium fonts-dejavu-core

SETUP_GROUPS := build python test deb system interop clients peer counter pictures
.PHONY: all help packages setup $(SETUP_GROUPS:%=setup-%) python demo test app-package certify interop test-clients test-system fuzz pictures \
    lint bench bench-peer privacy benchmarks release install uninstall deb tsan asan clean
.DEFAULT_GOAL := all
# Swift uses all processors by itself, and two builds in one folder wait for each other.
.NOTPARALLEL:

all: packages ## Build all programs and libraries (debug); the default target
	$(BUILD)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

# Setup. Only `setup` and its parts, setup-GROUP, call sudo; as root they do not need it.

setup: setup-build setup-test python ## Install what demo and test need: Debian packages (with sudo), Python packages
	@echo "Debian packages of this setup: $(PACKAGES_build) $(PACKAGES_python) $(PACKAGES_test)"
	@echo "Python packages, in .build/python: $(PYTHON_PACKAGES)"
	@echo "setup is complete; try: make demo"

$(SETUP_GROUPS:%=setup-%): setup-%:
	@Tools/packages.sh install $(PACKAGES_$*)

packages: ## Check that the Debian packages for building are installed; never calls sudo
	@Tools/packages.sh check $(PACKAGES_build)

python: setup-python ## Install the Python packages of the tests into .build/python
	@test -x $(PYTHON) || /usr/bin/python3 -m venv .build/python
	@$(PYTHON) -c 'import varlink, vobject' 2>/dev/null || { \
	    echo "installing Python packages into .build/python: $(PYTHON_PACKAGES)"; \
	    $(PYTHON) -m pip install --quiet --disable-pip-version-check $(PYTHON_PACKAGES); \
	}

# Running and testing.

# With a terminal you are the person who answers. Without one, a scripted person answers through a pseudo-terminal.
DEMO_PROGRAMS := contactbrokerd contactbook contactctl contact-agent AskForContact ScriptedPerson
demo: setup-build ## Show the main use in this terminal: an app asks, you answer
	@set -e; for program in $(DEMO_PROGRAMS); do echo "building $$program"; $(BUILD) --product $$program; done
	Examples/demo.sh $(DEBUG)

# As root it also runs the tests that only root can run; otherwise it reports that they were skipped.
test: setup-build setup-test python ## Run the tests, a scripted demo and certify
	$(BUILD) --build-tests
	CONTACTBROKER_PYTHON=$(PYTHON) $(SWIFT) test --skip-build
	DEMO_SCRIPTED=yes Examples/demo.sh $(DEBUG) </dev/null >.build/demo.txt 2>&1 || { cat .build/demo.txt; exit 1; }
	CONTACTBROKER_PYTHON=$(PYTHON) Tests/certify.sh >.build/certify.txt 2>&1 || { cat .build/certify.txt; exit 1; }
	$(BUILD) $(APP_PACKAGE) --target JSON >.build/app-package.txt 2>&1 || { cat .build/app-package.txt; exit 1; }
	@$(APP_FETCHED_NOTHING)

# An app whose targets have plain names such as JSON. Before SwiftPM compiles any of its targets, it compares the names of
# all of them with ours, so test compiles only one. The whole app needs the library again, which takes minutes.
APP_PACKAGE := --package-path Tests/AppPackage --scratch-path .build-app
APP_FETCHED_NOTHING = fetched=$$(ls .build-app/checkouts); \
    [ -z "$$fetched" ] || { echo "an app must fetch no package of our programs, but it fetched: $$fetched"; exit 1; }
app-package: packages ## Build and run an app package on the library (2 minutes)
	$(SWIFT) run $(APP_PACKAGE) App
	@$(APP_FETCHED_NOTHING)

certify: setup-build python ## Test our Varlink server and client against Python's varlink package
	CONTACTBROKER_PYTHON=$(PYTHON) Tests/certify.sh

interop: setup-build setup-interop python ## Test how other programs read our vCards, folders and LDIF
	$(BUILD) --build-tests
	CONTACTBROKER_PYTHON=$(PYTHON) $(SWIFT) test --skip-build --filter InteropTests

test-clients: setup-build setup-clients ## Test evolution-data-server, vdirsyncer and khard with contactbroker-dav
	$(BUILD) --build-tests
	CONTACTBROKER_CLIENTS=yes $(SWIFT) test --skip-build --filter CardDAVClientsTests

# At most 10 minutes. Without root or namespaces it says so and skips everything.
# ONLY="flood helper" runs only the adversaries with these words in their names.
test-system: setup-build $(if $(filter 0,$(shell id -u)),setup-system) ## As root: attack the installed system in a container
	$(BUILD) -c release
	Tests/System/test-system $(ONLY)

# Crashing inputs are kept in .build-fuzz.
FUZZ_SECONDS ?= 120
fuzz: setup-build ## Fuzz the vCard reader and writer, for FUZZ_SECONDS=120
	Tests/Fuzz/fuzz.sh $(FUZZ_SECONDS)

pictures: setup-pictures ## Make the documentation's pictures from the approved screens
	Tests/Pictures/draw

# Sanitizers build in folders of their own, because other flags in .build would rebuild everything.
#
# mutex.c is linked into every program. It tells the thread sanitizer about Swift's mutexes, and sends reports to a
# folder. A program that a test starts may have neither the test's environment nor its standard error.
TSAN := $(CURDIR)/.build-tsan
tsan: setup-build setup-test python ## Run the tests with the thread sanitizer (15 minutes)
	rm -rf $(TSAN)/reports && mkdir -p $(TSAN) && mkdir -m 1777 $(TSAN)/reports
	$(CLANG) -c -O1 -D 'REPORTS="$(TSAN)/reports/race"' Tests/Support/ThreadSanitizer/mutex.c -o $(TSAN)/mutex.o
	CONTACTBROKER_PYTHON=$(PYTHON) $(SWIFT) test --scratch-path $(TSAN) --sanitize=thread \
	    -Xlinker $(TSAN)/mutex.o --disable-xctest
	@if [ -n "$$(ls $(TSAN)/reports)" ]; then cat $(TSAN)/reports/*; exit 1; fi

asan: setup-build setup-test python ## Run the tests with the address sanitizer
	CONTACTBROKER_PYTHON=$(PYTHON) $(SWIFT) test --scratch-path .build-asan --sanitize=address \
	    --disable-xctest

lint: ## Check format, project rules, units, and that documentation names what exists
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources
	Tests/lint.sh
	Tests/threats.sh
	python3 Tests/documentation.py
	python3 Tests/layers.py

# Benchmarks.

# Measures the broker, evolution-data-server and the floor in one run, prints a table and writes .build/bench.json.
# BENCH=full adds 100,000 contacts; BENCH=many measures only those; BENCH=lookups, saves, import or callers only that part.
# BENCH=instructions counts the broker's instructions only, and compares them with Benchmarks/instructions.txt.
# BENCH=million searches 1,000,000 contacts. Creating that book takes minutes; it stays in .build for the next run.
bench: setup-build setup-counter python ## Measure against evolution-data-server (4 minutes); BENCH=full measures more
	$(BUILD) -c release --product contactbrokerd
	$(BUILD) -c release --product contactbook
	$(BUILD) -c release --product contact-agent
	$(BUILD) -c release --product contactbroker-identify
	$(BUILD) --package-path Benchmarks -c release --product contactbroker-bench
	@$(MAKE) --no-print-directory bench-peer || echo "evolution-data-server could not be installed or built: measuring without it"
	CONTACTBROKER_PYTHON=$(PYTHON) Benchmarks/.build/release/contactbroker-bench .build $(BENCH)

# The peer's app. SwiftPM cannot build it without warnings, because it rejects flags in libebook's pkg-config file.
PEER := Benchmarks/.build/release/contactbroker-bench-peer
bench-peer:
	@rm -f $(PEER)
	@$(MAKE) --no-print-directory setup-peer
	$(CLANG) -std=gnu17 -O2 -Wall -Wextra -Werror -D GLIB_DISABLE_DEPRECATION_WARNINGS Benchmarks/Peer/*.c \
	    $$(pkg-config --cflags --libs libebook-1.2) -o $(PEER)

# Fails if a row leaks. ONLY="links CountContacts" measures only the rows of the family links that have this word.
# CALLS=20000 takes a fifth of the time, but then chance alone puts a tenth of the rows above the bar.
CALLS ?= 100000
privacy: setup-build ## Measure what apps learn from the times of calls; ONLY=links, CALLS=100000
	$(BUILD) -c release --product contactbrokerd
	$(BUILD) --package-path Benchmarks -c release --product contactbroker-bench
	Benchmarks/.build/release/contactbroker-bench .build privacy $(CALLS) $(ONLY)

benchmarks: packages ## Only compile the benchmark, to see that it still builds
	$(BUILD) --package-path Benchmarks

# Installing and packaging.

# Tests run on the debug build. This shows that the optimizer accepts the code too.
release: packages ## Build what install installs
	$(BUILD) -c release

# DESTDIR is put before every path.
install: $(RELEASE_TARGET) ## Install programs, units and settings; DESTDIR, PREFIX=/usr/local
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" packaging/install "$(PROGRAMS)"

uninstall: ## Remove what install installed
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" packaging/uninstall

deb: setup-build setup-deb $(RELEASE_TARGET) ## Make a Debian package in .build/deb
	mkdir -p .build/deb
	rm -f .build/deb/*.deb
	packaging/debian/build "$(PROGRAMS)" "$(CURDIR)/.build/deb"

clean: ## Remove everything that was built
	rm -rf .build .build-* Benchmarks/.build
