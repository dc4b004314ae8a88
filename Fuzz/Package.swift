// swift-tools-version: 6.2

import PackageDescription

// Fuzz targets for everything that reads bytes from a socket. README.md says how to run them.
//
// The rooms are linked into Sources/ instead of being depended on: what they offer is `package`, so it can only be
// seen from inside one package, and compiled here they are instrumented without touching the manifest of the house.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

func fuzzer(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["FuzzDriver", "JunctionJSON", "JunctionProtocol", "JunctionSecret"],
        swiftSettings: strict
    )
}

let package = Package(
    name: "junctiond-fuzz",
    targets: [
        .target(name: "CFuzzer"),
        .target(name: "FuzzDriver", dependencies: ["CFuzzer"], swiftSettings: strict),
        .target(name: "JunctionSecret", swiftSettings: strict),
        .target(name: "JunctionJSON", dependencies: ["JunctionSecret"], swiftSettings: strict),
        .target(name: "JunctionProtocol", dependencies: ["JunctionJSON", "JunctionSecret"], swiftSettings: strict),
        fuzzer("FuzzJSON"),
        fuzzer("FuzzLines"),
        fuzzer("FuzzEnvelope"),
    ],
    swiftLanguageModes: [.v6]
)
