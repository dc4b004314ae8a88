// swift-tools-version: 6.2

import PackageDescription

// The libraries for Swift apps and their servers. A dependent package resolves no other package, unless it uses
// `RegistrationToken`, which needs swift-crypto for its signatures.
//
// The daemon's own package, two directories up, builds the same sources, so that the daemon and the apps use the same
// definitions. It also contains their tests.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

func room(_ name: String, uses: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: uses, swiftSettings: strict)
}

let package = Package(
    name: "junctiond-clients",
    products: [
        .library(name: "JunctionClient", targets: ["JunctionClient"]),
        .library(name: "JunctionClientFoundation", targets: ["JunctionClientFoundation"]),
        .library(name: "JunctionClientTesting", targets: ["JunctionClientTesting"]),
        .library(name: "RegistrationToken", targets: ["RegistrationToken"]),
    ],
    traits: [
        .trait(
            name: "RegistrationToken",
            description: "Mint and verify registration tokens, for an application's server"
        )
    ],
    dependencies: [.package(url: "https://github.com/apple/swift-crypto", "4.0.0"..<"5.0.0")],
    targets: [
        room("JunctionText"),
        room("JunctionSecret"),
        room("JunctionJSON", uses: ["JunctionSecret", "JunctionText"]),
        room("JunctionProtocol", uses: ["JunctionJSON", "JunctionSecret", "JunctionText"]),
        room("JunctionClient", uses: ["JunctionProtocol", "JunctionJSON", "JunctionSecret", "JunctionText"]),
        room("JunctionClientFoundation", uses: ["JunctionClient"]),
        room("JunctionClientTesting", uses: ["JunctionClient", "JunctionJSON"]),
        room(
            "RegistrationToken",
            uses: [
                "JunctionJSON", "JunctionText",
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["RegistrationToken"])),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
