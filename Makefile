# The two commands of the README, and what they are made of.

SWIFT ?= swift
RELEASE = JUNCTION_RELEASE=1 $(SWIFT) build -c release --static-swift-stdlib --scratch-path .build-release

.PHONY: demo demo-all test build release bench format lint clean prepare

demo: build ## the whole story with real calls, against a sandbox on this machine
	Tests/Demo/demo "$$($(SWIFT) build --show-bin-path)"

demo-all: demo ## the same, and a second act with social.plus and Sinch
	Tests/Demo/second-act "$$($(SWIFT) build --show-bin-path)"

test: build ## every test
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --disable-xctest

build: prepare
	$(SWIFT) build

release: prepare ## what belongs on a device: static, without the Swift runtime beside it
	$(RELEASE) --product junctiond
	$(RELEASE) --product junctionctl
	$(RELEASE) --product junction-sandbox

bench: release ## the figures, beside a bare C server and the peers
	$(SWIFT) run -c release --package-path Benchmarks bench \
		--junctiond .build-release/release/junctiond \
		--junctionctl .build-release/release/junctionctl \
		--sandbox .build-release/release/junction-sandbox

prepare:
	@.ci/prepare

format:
	$(SWIFT) format -i --recursive Sources Tests Benchmarks/Sources Fuzz/Sources Package.swift

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Benchmarks/Sources Fuzz/Sources Package.swift

clean:
	rm -rf .build .build-*
