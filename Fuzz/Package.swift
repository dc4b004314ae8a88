// swift-tools-version: 6.2

import PackageDescription

// Fuzz targets for all code that parses bytes from outside. README.md says how to run them.
//
// Sources/ has links to the modules instead of dependencies on them. Their API is `package`, so only this package can
// use it that way, and the fuzzer instruments them without a change of the project's manifest.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
    // Parsers inside a module are internal, and the fuzzers need them.
    .unsafeFlags(["-enable-testing"]),
]

func module(_ name: String, _ uses: [String] = [], outside: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: uses.map { .target(name: $0) } + outside, swiftSettings: strict)
}

/// The parsing part of a module, without the libraries that the rest of it needs.
func readers(_ name: String, in module: String, _ sources: [String], _ uses: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: uses.map { .target(name: $0) },
        path: "Sources/\(module)",
        sources: sources,
        swiftSettings: strict
    )
}

func fuzzer(_ name: String, _ uses: [String]) -> Target {
    .executableTarget(
        name: name,
        dependencies: (["FuzzDriver"] + uses).map { .target(name: $0) },
        swiftSettings: strict
    )
}

let text = ["JunctionText", "JunctionSecret"]

let package = Package(
    name: "junctiond-fuzz",
    dependencies: [.package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2")],
    targets: [
        .target(name: "CFuzzer"),
        .target(name: "CLinux"),
        .target(name: "FuzzDriver", dependencies: ["CFuzzer"], swiftSettings: strict),
        module("JunctionText"),
        module("JunctionToml"),
        module("JunctionSecret"),
        module("JunctionJSON", text),
        module("JunctionProtocol", ["JunctionJSON"] + text),
        module("JunctionSession", text),
        module(
            "JunctionVault",
            ["JunctionSession", "JunctionJSON", "CLinux"] + text,
            outside: [.product(name: "Crypto", package: "swift-crypto")]
        ),
        module("JunctionNetworkHelper", ["JunctionSecret", "CLinux"]),
        readers(
            "ProviderAnswers",
            in: "JunctionProviders",
            [
                "HTTP/BearerToken.swift", "HTTP/HTTPAnswer.swift",
                "HTTP/HTTPAnswer+Unavailability.swift", "HTTP/HTTPDate.swift",
                "HTTP/ServerClock.swift", "HTTP/SharedSecret+JSON.swift", "Junction/JunctionSite.swift",
                "Junction/JunctionVerdict.swift",
                "Junction/LinkCode.swift", "Junction/SignInToken.swift", "Junction/TokenAnswer.swift",
                "Sinch/Registration.swift", "Social/SessionsAnswer.swift", "Social/SocialVerdict.swift",
                "Definition/BackendToken.swift",
            ],
            ["JunctionSession", "JunctionJSON"] + text
        ),
        readers("AnswerHeads", in: "junctiond-courier", ["IncomingHead.swift"], ["JunctionNetworkHelper"]),
        fuzzer("FuzzHeads", ["AnswerHeads", "JunctionNetworkHelper", "JunctionSecret"]),
        fuzzer("FuzzHelper", ["JunctionNetworkHelper", "JunctionSecret"]),
        fuzzer("FuzzJSON", ["JunctionJSON", "JunctionSecret"]),
        fuzzer("FuzzLines", ["JunctionProtocol"]),
        fuzzer("FuzzEnvelope", ["JunctionJSON", "JunctionProtocol"]),
        fuzzer("FuzzRecord", ["JunctionVault", "JunctionSession", "JunctionSecret"]),
        fuzzer("FuzzSettings", ["JunctionToml"]),
        fuzzer("FuzzDates", ["ProviderAnswers", "JunctionProtocol"]),
        fuzzer("FuzzAnswers", ["ProviderAnswers", "JunctionSession", "JunctionSecret"]),
    ],
    swiftLanguageModes: [.v6]
)
