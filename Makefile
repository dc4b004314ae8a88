# The two commands of the README, and what they are made of.

SWIFT ?= swift
BINARIES ?= .build-release/release
PROGRAMS = junctiond junctiond-courier junctionctl junction-sandbox

# The C parts, the TLS library above all, check their stack and the buffers whose size is known; Package.swift has what
# the linker does. No search path beside the program: whoever can write there could slip a library in.
HARDENED = $(foreach flag,-fstack-protector-strong -D_FORTIFY_SOURCE=2,-Xcc $(flag) -Xcxx $(flag)) --disable-local-rpath
# Each function in a section of its own, which the linker can drop or move.
SECTIONS = -Xswiftc -Xfrontend -Xswiftc -function-sections $(foreach language,-Xcc -Xcxx,$(language) -ffunction-sections)
# The list of functions for lld (packaging/order). `make release ORDER=` links without it.
ORDER ?= $(CURDIR)/.build-release/junctiond.order
RELEASE = JUNCTION_RELEASE=1 JUNCTION_ORDER="$(ORDER)" $(SWIFT) build -c release --static-swift-stdlib $(HARDENED) $(SECTIONS) \
	--scratch-path .build-release

SUITES = swift oauth network page python docs tutorial examples c alerts demo system

# Swift compiles in parallel by itself, and `install` may call `release` once for each program.
.NOTPARALLEL:
.PHONY: demo demo-all test $(addprefix test-,$(SUITES)) docs build release order install uninstall deb bench fleet format lint clean bootstrap

# Nothing of the tests, and no library that only apps use.
demo: bootstrap ## the whole story with real calls, against a sandbox on this machine
	$(foreach program,$(PROGRAMS),$(SWIFT) build --product $(program) &&) :
	@"$$($(SWIFT) build --show-bin-path)/junction-sandbox" demo

demo-all: demo ## the same, and a second act with social.plus, Sinch and an OAuth server
	Tests/Demo/second-act "$$($(SWIFT) build --show-bin-path)"

test: bootstrap ## every test; as root also against real authorization servers, in network namespaces, and under a real systemd
	$(SWIFT) build
	@SWIFT="$(SWIFT)" Tests/suites

# One suite: test-swift are the tests of the modules and of the built programs; Tests/suites says what the others are.
$(addprefix test-,$(SUITES)): build
	@SWIFT="$(SWIFT)" Tests/suites $(@:test-%=%)

docs: build ## the guides and the reference of the Swift libraries, as a site in .build-docs/site/
	docs/build --libraries "$$($(SWIFT) build --show-bin-path)"

build: ## compiles everything; installs nothing
	$(SWIFT) build

release: bootstrap ## what belongs on a device: static, without the Swift runtime beside it
	@[ -z "$(ORDER)" ] || { mkdir -p .build-release && touch "$(ORDER)"; }
	$(foreach program,$(PROGRAMS),$(RELEASE) --product $(program) &&) :
	@[ -z "$(ORDER)" ] || [ -s "$(ORDER)" ] || $(MAKE) --no-print-directory order

# `make release` makes the list once: an old list has less effect and does no harm.
order:
	@.ci/need valgrind:valgrind curl:curl
	packaging/order .build-release/release "$(ORDER).new"
	@rm .build-release/release/junctiond && mv "$(ORDER).new" "$(ORDER)"
	$(RELEASE) --product junctiond

install: $(addprefix $(BINARIES)/,$(PROGRAMS)) ## all of it, for packagers: DESTDIR, PREFIX and more in packaging/README.md
	packaging/install --binaries $(BINARIES)

uninstall: ## the same away again; configuration and state stay
	packaging/install --uninstall

deb: release ## the Debian packages, in .build-deb/
	@.ci/need dpkg-shlibdeps:dpkg-dev jq:jq python3:python3
	packaging/deb/build --binaries $(BINARIES)

# For `make install`, only if they are missing: it runs as root, where a compiler has no business.
$(BINARIES)/%:
	$(MAKE) release

bench: release ## the figures, beside a bare C server and the peers
	$(SWIFT) run -c release --package-path Benchmarks bench \
		--junctiond .build-release/release/junctiond \
		--junctionctl .build-release/release/junctionctl \
		--sandbox .build-release/release/junction-sandbox

fleet: ## what a million daemons do to one provider, and it to them: figures, and pictures for docs/fleet.md
	$(SWIFT) run -c release --package-path Benchmarks fleet --pictures docs/fleet

bootstrap: ## installs what the build needs and this machine lacks, and says so before
	@.ci/bootstrap

format:
	$(SWIFT) format -i --recursive Sources Tests clients/swift Benchmarks/Sources Benchmarks/Tests Fuzz/Sources Package.swift

lint: ## what can be said without a build: format, which module may depend on which, and whether the defects of the mutation tests apply
	$(SWIFT) format lint --strict --recursive Sources Tests clients/swift Benchmarks/Sources Benchmarks/Tests Fuzz/Sources Package.swift
	SWIFT="$(SWIFT)" .ci/dependencies
	.ci/defects

clean:
	rm -rf .build .build-*
