# The two commands of the README, and what they are made of.

SWIFT ?= swift
BINARIES ?= .build-release/release
PROGRAMS = junctiond junctiond-courier junctionctl junction-sandbox

# The C parts, the TLS library above all, check their stack and the buffers whose size is known; Package.swift has what
# the linker does. No search path beside the program: whoever can write there could slip a library in.
HARDENED = $(foreach flag,-fstack-protector-strong -D_FORTIFY_SOURCE=2,-Xcc $(flag) -Xcxx $(flag)) --disable-local-rpath
# Each function in a section of its own: the list of what is needed every day can put it beside the others.
SECTIONS = -Xswiftc -Xfrontend -Xswiftc -function-sections $(foreach language,-Xcc -Xcxx,$(language) -ffunction-sections)
# What of the linker this machine has: nothing of it is needed. LINKING= takes the toolchain's default.
LINKING ?= $(shell SWIFT="$(SWIFT)" packaging/linking)
RELEASE = JUNCTION_RELEASE=1 JUNCTION_LINKING="$(LINKING)" $(SWIFT) build -c release --static-swift-stdlib $(HARDENED) $(SECTIONS) \
	--scratch-path .build-release

.PHONY: demo demo-all test test-in-turn test-oauth test-network test-page test-python test-docs test-c test-alerts test-demo docs test-system build release order install uninstall deb bench fleet format lint clean prepare

demo: build ## the whole story with real calls, against a sandbox on this machine
	@"$$($(SWIFT) build --show-bin-path)/junction-sandbox" demo

demo-all: demo ## the same, and a second act with social.plus, Sinch and an OAuth server
	Tests/Demo/second-act "$$($(SWIFT) build --show-bin-path)"

test: build ## every test; as root also against real authorization servers, in network namespaces, and under a real systemd
	$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Tests/run
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=recurse test-in-turn $(if $(filter 0,$(shell id -u)),test-system)
	@[ "$$(id -u)" = 0 ] || echo "system tests skipped: they need root"

# The servers mostly wait, and so does systemd when the compiler has made what it tests: one beside the other. In turn, because
# some of them install what they need.
test-in-turn: build
	@MAKEFLAGS="$(filter-out -j% --jobserver-%,$(MAKEFLAGS))" $(MAKE) --no-print-directory SWIFT="$(SWIFT)" \
		test-oauth test-network test-page test-python test-docs test-c test-alerts test-demo

test-oauth: build ## the daemon against authorization servers that others wrote, which it fetches
	Tests/OAuthServers/run "$$($(SWIFT) build --show-bin-path)"

test-python: build ## the Python library against the built daemon and the conformance suite; it fetches what its tests need
	clients/python/run-tests "$$($(SWIFT) build --show-bin-path)"

test-alerts: ## the alert rules of docs/metrics, by Debian's promtool
	Tests/Alerts/run

test-network: build ## the daemon and its courier against proxies, name servers, certificates and portals, in network namespaces
	Tests/Network/run "$$($(SWIFT) build --show-bin-path)"

test-demo: build ## the demo from its beginning to its end, and what the sandbox tells a daemon
	Tests/Demo/run "$$($(SWIFT) build --show-bin-path)"

test-page: build ## the sandbox's page in a headless Chromium, where there is one
	Tests/Page/run "$$($(SWIFT) build --show-bin-path)"

docs: build ## the guides and the reference of the Swift libraries, as a site in .build-docs/
	docs/build --libraries "$$($(SWIFT) build --show-bin-path)"

test-docs: build ## the guides: their links, every command of the tutorial, and the examples
	docs/build --check
	Tests/Tutorial/run "$$($(SWIFT) build --show-bin-path)"
	examples/run "$$($(SWIFT) build --show-bin-path)"

test-c: build ## the C library, with sanitizers, the conformance suite and fuzzers
	clients/c/run-tests "$$($(SWIFT) build --show-bin-path)"

test-system: deb ## the package under a real systemd, in a container of its own
	Tests/System/run "$$(ls -t .build-deb/junctiond_*.deb | head -n 1)"

build: prepare
	$(SWIFT) build

release: prepare ## what belongs on a device: static, without the Swift runtime beside it
	$(RELEASE) --product junctiond
	$(RELEASE) --product junctiond-courier
	$(RELEASE) --product junctionctl
	$(RELEASE) --product junction-sandbox

order: prepare ## which functions an ordinary day needs: renews packaging/*.order, for the next release
	$(MAKE) release LINKING="$(LINKING) symbols"
	packaging/order .build-release/release
	@rm -f $(foreach program,$(PROGRAMS),.build-release/release/$(program))

install: $(addprefix $(BINARIES)/,$(PROGRAMS)) ## all of it, for packagers: DESTDIR, PREFIX and more in packaging/README.md
	packaging/install --binaries $(BINARIES)

uninstall: ## the same away again; configuration and state stay
	packaging/install --uninstall

deb: release ## the Debian packages, in .build-deb/
	packaging/deb/build --binaries $(BINARIES)

# For `make install`, only if they are missing: it runs as root, where a compiler has no business.
$(BINARIES)/%:
	$(MAKE) release

bench: release ## the figures, beside a bare C server and the peers
	$(RELEASE) --product vault-probe
	$(SWIFT) run -c release --package-path Benchmarks bench \
		--junctiond .build-release/release/junctiond \
		--junctionctl .build-release/release/junctionctl \
		--sandbox .build-release/release/junction-sandbox

fleet: ## what a million daemons do to one provider, and it to them: figures, and pictures for docs/fleet.md
	$(SWIFT) run -c release --package-path Benchmarks fleet --pictures docs/fleet

prepare:
	@.ci/prepare

format:
	$(SWIFT) format -i --recursive Sources Tests clients/swift Benchmarks/Sources Benchmarks/Tests Fuzz/Sources Package.swift

lint: ## what can be said without a build: format, which room stands on which, and whether the pictures show it
	$(SWIFT) format lint --strict --recursive Sources Tests clients/swift Benchmarks/Sources Benchmarks/Tests Fuzz/Sources Package.swift
	SWIFT="$(SWIFT)" .ci/arrows
	docs/images/draw --check

clean:
	rm -rf .build .build-*
