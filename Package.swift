// swift-tools-version: 6.2

import PackageDescription

// `docs/architecture.md` describes the modules; `.ci/dependencies` checks that dependencies only go down.

// Flags of `make release`, beside --static-swift-stdlib: no table of exported symbols, which the Swift runtime would
// scan at each start, and a fully static client, which halves its start-up time.
let isRelease = Context.environment["JUNCTION_RELEASE"] == "1"
// The programs keep their symbols; `packaging/install` strips them.
// `-z relro -z now`: relocations are resolved and made read-only before the program's own code runs.
func forLinker(_ flags: String...) -> [String] { flags.flatMap { ["-Xlinker", $0] } }
let forDevices: [LinkerSetting] =
    isRelease ? [.unsafeFlags(forLinker("--no-export-dynamic", "-z", "relro", "-z", "now", "--strip-debug"))] : []
let fullyStatic: [LinkerSetting] = isRelease ? [.unsafeFlags(["-static-executable"])] : []
// A list of the functions that a start runs, made by `packaging/order`. The linker places them side by side.
let order = Context.environment["JUNCTION_ORDER"] ?? ""
let ordered: [LinkerSetting] =
    isRelease && !order.isEmpty
    ? [.unsafeFlags(["-use-ld=lld"] + forLinker("--symbol-ordering-file", order, "--no-warn-symbol-ordering"))] : []

/// Debug builds optimize the session core and its tests, with assertions: `make test` simulates 100,000 histories.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")

let package = Package(
    name: "junctiond",
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        // System interfaces, text, secrets.
        .target(name: "CLinux"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CWipe"),
        .target(name: "JunctionText", path: "clients/swift/Sources/JunctionText"),
        .target(name: "JunctionToml"),
        .target(name: "JunctionSecret", path: "clients/swift/Sources/JunctionSecret"),
        .target(name: "JunctionNotify", dependencies: ["CLinux"]),
        .target(
            name: "JunctionJSON",
            dependencies: ["JunctionSecret", "JunctionText"],
            path: "clients/swift/Sources/JunctionJSON"
        ),
        .target(
            name: "RegistrationToken",
            dependencies: ["JunctionJSON", "JunctionText", crypto],
            path: "clients/swift/Sources/RegistrationToken"
        ),

        // The session core, the protocol of the socket, the messages to the network helper.
        .target(name: "JunctionSession", dependencies: ["JunctionSecret", "JunctionText"], swiftSettings: optimized),
        .target(
            name: "JunctionProtocol",
            dependencies: ["JunctionJSON", "JunctionSecret", "JunctionText"],
            path: "clients/swift/Sources/JunctionProtocol"
        ),
        .target(name: "JunctionNetworkHelper", dependencies: ["JunctionSecret", "CLinux"]),

        // One module for each external system.
        .target(
            name: "JunctionProviders",
            dependencies: [
                "JunctionSession", "JunctionNetworkHelper", "JunctionJSON", "JunctionSecret", "JunctionText",
                "RegistrationToken", "CLinux", nioCore, nioPosix, crypto,
            ]
        ),
        .target(
            name: "JunctionVault",
            dependencies: ["JunctionSession", "JunctionJSON", "JunctionSecret", "JunctionText", "CLinux", crypto]
        ),
        .target(
            name: "JunctionServer",
            dependencies: [
                "JunctionSession", "JunctionProtocol", "JunctionJSON", "JunctionSecret", "JunctionText", "CLinux",
                nioCore, nioPosix, nioHTTP1,
            ]
        ),
        .target(name: "JunctionSystemd", dependencies: ["JunctionNotify", "CSystemd", "CLinux", logging]),
        .target(
            name: "JunctionClient",
            dependencies: ["JunctionProtocol", "JunctionJSON", "JunctionSecret", "JunctionText"],
            path: "clients/swift/Sources/JunctionClient"
        ),

        // The daemon, which connects the modules, and the programs.
        .target(
            name: "JunctionDaemon",
            dependencies: [
                "JunctionSession", "JunctionProtocol", "JunctionNetworkHelper", "JunctionProviders", "JunctionVault",
                "JunctionServer", "JunctionSystemd", "JunctionSecret", "JunctionText", "JunctionToml", "CLinux",
                logging, nioCore, nioPosix,
            ]
        ),
        .executableTarget(
            name: "junctiond",
            dependencies: ["JunctionDaemon", "CLinux", "CWipe"],
            linkerSettings: forDevices + ordered
        ),
        .executableTarget(
            name: "junctiond-courier",
            dependencies: ["JunctionNetworkHelper", "JunctionNotify", "JunctionSecret", "CCurl", "CLinux", "CWipe"],
            linkerSettings: forDevices
        ),
        .executableTarget(
            name: "junctionctl",
            dependencies: ["JunctionClient", "JunctionNotify", "JunctionText", "JunctionToml", "CLinux", arguments],
            linkerSettings: forDevices + fullyStatic
        ),

        // For apps and for tests, and the stand-in for the providers.
        .target(
            name: "JunctionClientFoundation",
            dependencies: ["JunctionClient"],
            path: "clients/swift/Sources/JunctionClientFoundation"
        ),
        .target(
            name: "JunctionClientTesting",
            dependencies: ["JunctionClient", "JunctionJSON"],
            path: "clients/swift/Sources/JunctionClientTesting"
        ),
        .target(name: "JunctionTesting", dependencies: ["JunctionSession", "JunctionSecret"]),
        .target(
            name: "SandboxCloud",
            dependencies: [
                "RegistrationToken", "JunctionText", hummingbird, hummingbirdCore, nioCore, crypto, cryptoExtras,
                logging,
            ],
            resources: ["page.html", "page.css", "page.js", "icon.svg"].map { .embedInCode("Page/\($0)") }
        ),
        .executableTarget(
            name: "junction-sandbox",
            dependencies: ["SandboxCloud", "RegistrationToken", arguments, logging],
            linkerSettings: forDevices
        ),

        // Tests.
        .testTarget(name: "JunctionTextTests", dependencies: ["JunctionText"]),
        .testTarget(name: "JunctionTomlTests", dependencies: ["JunctionToml"]),
        .testTarget(name: "JunctionSecretTests", dependencies: ["JunctionSecret"]),
        .testTarget(
            name: "JunctionJSONTests",
            dependencies: ["JunctionSecret", "JunctionSession", "JunctionText", "JunctionJSON"]
        ),
        .testTarget(name: "RegistrationTokenTests", dependencies: ["JunctionText", "RegistrationToken", crypto]),
        .testTarget(
            name: "JunctionSessionTests",
            dependencies: ["JunctionSecret", "JunctionSession", "JunctionTesting"],
            swiftSettings: optimized
        ),
        .testTarget(
            name: "JunctionProtocolTests",
            dependencies: ["JunctionJSON", "JunctionSecret", "JunctionSession", "JunctionText", "JunctionProtocol"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "JunctionNetworkHelperTests",
            dependencies: ["JunctionSecret", "CLinux", "JunctionNetworkHelper"]
        ),
        .testTarget(
            name: "JunctionProvidersTests",
            dependencies: [
                "JunctionSession", "JunctionNetworkHelper", "JunctionJSON", "JunctionSecret", "JunctionText",
                "RegistrationToken", "CLinux", "JunctionProviders", "JunctionTesting", "junctiond-courier", nioCore,
                nioPosix, crypto,
            ]
        ),
        .testTarget(name: "CLinuxTests", dependencies: ["CLinux", "JunctionTesting"]),
        .testTarget(
            name: "JunctionVaultTests",
            dependencies: [
                "JunctionSession", "JunctionJSON", "JunctionSecret", "JunctionText", "CLinux", "JunctionVault",
                "JunctionTesting", crypto,
            ],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "JunctionServerTests",
            dependencies: [
                "JunctionSession", "JunctionProtocol", "JunctionJSON", "JunctionSecret", "JunctionText", "CLinux",
                "JunctionServer", "JunctionTesting", nioCore, nioPosix, nioHTTP1, nioEmbedded,
            ]
        ),
        .testTarget(
            name: "JunctionSystemdTests",
            dependencies: ["JunctionNotify", "CSystemd", "CLinux", "JunctionSystemd", "JunctionTesting", logging]
        ),
        .testTarget(
            name: "JunctionClientTests",
            dependencies: [
                "JunctionProtocol", "JunctionJSON", "JunctionSecret", "JunctionText", "JunctionClient",
                "JunctionClientTesting", "JunctionClientFoundation", "JunctionTesting",
            ]
        ),
        .testTarget(
            name: "JunctionDaemonTests",
            dependencies: [
                "JunctionSession", "JunctionProtocol", "JunctionNetworkHelper", "JunctionProviders", "JunctionVault",
                "JunctionServer", "JunctionSystemd", "JunctionSecret", "JunctionText", "JunctionToml", "CLinux",
                "JunctionDaemon", "JunctionTesting", "JunctionClient", "junctiond-courier", logging, nioCore, nioPosix,
                nioEmbedded,
            ]
        ),
        .testTarget(
            name: "junctiond-courierTests",
            dependencies: [
                "JunctionNetworkHelper", "JunctionNotify", "JunctionSecret", "CCurl", "CLinux", "CWipe",
                "junctiond-courier",
                "JunctionTesting",
            ]
        ),
        .testTarget(
            name: "junctionctlTests",
            dependencies: [
                "JunctionClient", "JunctionText", "JunctionToml", "CLinux", "junctionctl", "JunctionTesting", arguments,
            ]
        ),
        .testTarget(
            name: "SandboxCloudTests",
            dependencies: [
                "RegistrationToken", "JunctionText", "SandboxCloud", "JunctionTesting", hummingbird, hummingbirdCore,
                nioCore, crypto, cryptoExtras, logging,
            ]
        ),
        // Tests of the built programs and the client library over real sockets, against the sandbox. The tests compile
        // Shims themselves, as a library to preload.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "junctiond", "junctiond-courier", "junctionctl", "junction-sandbox", "JunctionClient",
                "JunctionTesting",
            ],
            exclude: ["Shims"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system && !["CLinux", "CWipe"].contains(target.name) {
    target.swiftSettings =
        [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            .enableUpcomingFeature("InferIsolatedConformances"),
            .treatAllWarnings(as: .error),
        ] + (target.swiftSettings ?? [])
}

// JUNCTION_MODULES=JunctionSession,JunctionProtocol keeps these modules, their tests and their dependencies. The
// address sanitizer and the mutation tests use it.
if let modules = Context.environment["JUNCTION_MODULES"] {
    var pending = modules.split(separator: ",").flatMap { [String($0), "\($0)Tests"] }
    var kept: Set<String> = []
    var packages: Set<String> = []
    while let name = pending.popLast() {
        guard let target = package.targets.first(where: { $0.name == name }), kept.insert(name).inserted else {
            continue
        }
        for dependency in target.dependencies {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): pending.append(name)
            case .productItem(_, let package, _, _): packages.insert(package ?? "")
            @unknown default: fatalError("Package.swift does not know this kind of dependency")
            }
        }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.dependencies.removeAll { dependency in
        guard case .sourceControl(_, let location, _) = dependency.kind else { return true }
        return !packages.contains { location.hasSuffix("/\($0)") }
    }
}
