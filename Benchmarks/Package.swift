// swift-tools-version: 6.2

import PackageDescription

// `bench` measures the built programs from outside. It uses no module of this project and no external library.
// `fleet` simulates a million daemons with the project's own rules: three modules are linked into Sources/, as in Fuzz.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// The settings of these modules in the main package.
let module =
    strict + [
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ]

let package = Package(
    name: "benchmarks",
    targets: [
        // The load generator and the timers are in C, so that they are never the slower side.
        .target(name: "CInstruments", linkerSettings: [.linkedLibrary("dl")]),
        // The baseline: what this machine and kernel allow a server and its client to reach.
        // Without these flags it would link the Swift runtime, which it does not use.
        .executableTarget(
            name: "bare-server",
            linkerSettings: [.unsafeFlags(["-nostartfiles", "-static-executable"])]
        ),
        // Depends on the bare server only so that it is built and placed beside it.
        .executableTarget(name: "bench", dependencies: ["CInstruments", "bare-server"], swiftSettings: strict),
        .target(name: "JunctionSecret", swiftSettings: module),
        .target(name: "JunctionText", swiftSettings: module),
        .target(name: "JunctionSession", dependencies: ["JunctionSecret", "JunctionText"], swiftSettings: module),
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
