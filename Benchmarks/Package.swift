// swift-tools-version: 6.2

import PackageDescription

// `bench` measures the built programs from outside. It shares nothing with them: no module of this project, no outside library.
// `fleet` simulates a million daemons by the project's own rules: two modules are linked into Sources/, as in Fuzz.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// What the modules are built with where they are at home.
let module =
    strict + [
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ]

let package = Package(
    name: "benchmarks",
    targets: [
        // The load generator and the stop-watches, in C so that they are never the slower side.
        .target(name: "CInstruments", linkerSettings: [.linkedLibrary("dl")]),
        // The floor: what this machine and this kernel allow a server, and its client, to reach.
        // Without these flags it would carry the Swift runtime, which it does not use.
        .executableTarget(
            name: "bare-server",
            linkerSettings: [.unsafeFlags(["-nostartfiles", "-static-executable"])]
        ),
        // It depends on the bare server only to have it built and beside it.
        .executableTarget(name: "bench", dependencies: ["CInstruments", "bare-server"], swiftSettings: strict),
        .target(name: "JunctionSecret", swiftSettings: module),
        .target(name: "JunctionSession", dependencies: ["JunctionSecret"], swiftSettings: module),
        .target(name: "FleetSimulation", dependencies: ["JunctionSession"], swiftSettings: strict),
        .executableTarget(name: "fleet", dependencies: ["FleetSimulation"], swiftSettings: strict),
        .testTarget(
            name: "FleetSimulationTests",
            dependencies: ["FleetSimulation", "JunctionSession"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
