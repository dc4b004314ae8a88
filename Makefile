# The two commands of the README, and their parts.

SWIFT ?= swift
BINARIES ?= .build-release/release
PROGRAMS = junctiond junctiond-courier junctionctl junction-sandbox

# C code, mainly the TLS library, checks its stack and the buffers of known size; Package.swift has the linker flags. No
# library search path beside the program, because a user who can write there could replace a library.
HARDENED = $(foreach flag,-fstack-protector-strong -D_FORTIFY_SOURCE=2,-Xcc $(flag) -Xcxx $(flag)) --disable-local-rpath
# One section for each function, so that the linker can drop or move it.
SECTIONS = -Xswiftc -Xfrontend -Xswiftc -function-sections $(foreach language,-Xcc -Xcxx,$(language) -ffunction-sections)
# The function list for lld (packaging/order). `make release ORDER=` links without it.
ORDER ?= $(CURDIR)/.build-release/junctiond.order
RELEASE = JUNCTION_RELEASE=1 JUNCTION_ORDER="$(ORDER)" $(SWIFT) build -c release --static-swift-stdlib $(HARDENED) $(SECTIONS) \
	--scratch-path .build-release

SUITES = swift oauth network page python js docs tutorial examples c alerts demo system

# Swift builds in parallel itself, and `install` may call `release` once for each program.
.NOTPARALLEL:
.PHONY: demo demo-all test $(addprefix test-,$(SUITES)) test-machine docs build release order install uninstall deb evidence bench fleet format lint clean bootstrap

# Builds only the programs, not the tests and not the libraries for apps.
demo: bootstrap ## a demo with real requests, against a sandbox on this machine
	$(foreach program,$(PROGRAMS),$(SWIFT) build --product $(program) &&) :
	@"$$($(SWIFT) build --show-bin-path)/junction-sandbox" demo

demo-all: demo ## the same, then with social.plus, Sinch and an OAuth server
	Tests/Demo/second-act "$$($(SWIFT) build --show-bin-path)"

test: bootstrap ## every suite of Tests/suites; as root also against real authorization servers, in network namespaces, and under a real systemd
	$(SWIFT) build
	@SWIFT="$(SWIFT)" Tests/suites

# One suite: test-swift are the tests of the modules and of the built programs; Tests/suites describes the others.
$(addprefix test-,$(SUITES)): build
	@SWIFT="$(SWIFT)" Tests/suites $(@:test-%=%)

test-machine: deb ## the package in a whole machine (QEMU), with power cuts, suspends and a TPM: an hour
	Tests/Machine/run .build-deb

docs: build ## the guides and the reference of the Swift libraries, as a site in .build-docs/site/
	docs/build --libraries "$$($(SWIFT) build --show-bin-path)"

build: ## compiles everything; installs nothing
	$(SWIFT) build

release: bootstrap ## the programs for a device, with the Swift runtime linked statically
	@[ -z "$(ORDER)" ] || { mkdir -p .build-release && touch "$(ORDER)"; }
	$(foreach program,$(PROGRAMS),$(RELEASE) --product $(program) &&) :
	@[ -z "$(ORDER)" ] || [ -s "$(ORDER)" ] || $(MAKE) --no-print-directory order

# `make release` makes the list once. An outdated list has less effect, but does no harm.
order:
	@.ci/need valgrind:valgrind curl:curl
	packaging/order .build-release/release "$(ORDER).new"
	@rm .build-release/release/junctiond && mv "$(ORDER).new" "$(ORDER)"
	$(RELEASE) --product junctiond

install: $(addprefix $(BINARIES)/,$(PROGRAMS)) ## everything, for packagers: DESTDIR, PREFIX and more in packaging/README.md
	packaging/install --binaries $(BINARIES)

uninstall: ## removes what install has installed; configuration and state stay
	packaging/install --uninstall

deb: release ## the Debian packages, in .build-deb/
	@.ci/need dpkg-shlibdeps:dpkg-dev gcc:gcc jq:jq python3:python3
	packaging/deb/build --binaries $(BINARIES)

# For `make install`, only if the programs are missing: it runs as root, and a compiler should not.
$(BINARIES)/%:
	$(MAKE) release

evidence: build deb ## runs the commands of docs/evidence.md that take less than ten minutes together, and writes their results there
	$(SWIFT) build --build-tests
	Tests/evidence

bench: release ## measures performance, compared with a bare C server and similar agents
	$(SWIFT) run -c release --package-path Benchmarks bench \
		--junctiond .build-release/release/junctiond \
		--junctionctl .build-release/release/junctionctl \
		--sandbox .build-release/release/junction-sandbox

fleet: ## simulates a million daemons and one provider: tables and pictures for docs/fleet.md
	$(SWIFT) run -c release --package-path Benchmarks fleet --pictures docs/fleet

bootstrap: ## installs missing build dependencies, and names them first
	@.ci/bootstrap

format:
	$(SWIFT) format -i --recursive Sources Tests clients/swift Benchmarks/Sources Benchmarks/Tests Fuzz/Sources Package.swift

lint: ## checks without a build: format, module dependencies, whether the mutation defects apply, the commands of docs/evidence.md, the workflows and the release script
	$(SWIFT) format lint --strict --recursive Sources Tests clients/swift Benchmarks/Sources Benchmarks/Tests Fuzz/Sources Package.swift
	SWIFT="$(SWIFT)" .ci/dependencies
	.ci/defects
	Tests/evidence --check
	.ci/workflows

clean:
	rm -rf .build .build-*
