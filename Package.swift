// swift-tools-version: 6.2

import PackageDescription

// The house in one table: a room, what it may look down on, and the outside library it owns.
// `docs/modules.md` says what each room is for; `.ci/arrows` checks that an arrow only goes down.
//
// JUNCTION_ROOMS=JunctionSession,JunctionProtocol builds only these rooms, what they stand on, and their tests:
// the pure rooms compile in seconds then, which is what the sanitizers and the fuzzers use.

struct Room {
    enum Kind {
        case library, executable, c
        case system(pkgConfig: String, debian: String)
    }

    var name: String
    var kind = Kind.library
    /// Where the rooms lie: in `clients/swift` those that apps get, without anything else of the daemon.
    var home = "Sources"
    var uses: [String] = []
    var outside: [Outside] = []
    /// The rooms that its tests need beside it; nil where another room's tests are about it.
    var tests: [String]? = []
    var testsOutside: [Outside] = []
    /// Files whose bytes are compiled in; nothing is looked up when the program runs.
    var embedded: [String] = []
    var settings: [SwiftSetting] = []
    var linking: [LinkerSetting] = []
}

struct Outside: Hashable {
    var product: String
    var package: String
}

let clients = "clients/swift/Sources"

let nioCore = Outside(product: "NIOCore", package: "swift-nio")
let nioHTTP1 = Outside(product: "NIOHTTP1", package: "swift-nio")
let nioEmbedded = Outside(product: "NIOEmbedded", package: "swift-nio")
let nioPosix = Outside(product: "NIOPosix", package: "swift-nio")
let crypto = Outside(product: "Crypto", package: "swift-crypto")
let cryptoExtras = Outside(product: "CryptoExtras", package: "swift-crypto")
let logging = Outside(product: "Logging", package: "swift-log")
let arguments = Outside(product: "ArgumentParser", package: "swift-argument-parser")
let hummingbird = Outside(product: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Outside(product: "HummingbirdCore", package: "hummingbird")

let releases: [String: Package.Dependency] = [
    "swift-nio": .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    "swift-crypto": .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    "swift-log": .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    "swift-argument-parser": .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    "hummingbird": .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
]

// What `make release` asks for, beside --static-swift-stdlib: programs without a table of exported symbols, which the
// Swift runtime would scan at each start, and a client that is linked fully static, which halves its start-up time.
let isForDevices = Context.environment["JUNCTION_RELEASE"] == "1"
// The programs keep the names of their functions; `packaging/install` strips them.
// `-z relro -z now`: the addresses of other libraries' functions are read-only before the program's own code runs.
func forLinker(_ flags: [String]) -> [String] { flags.flatMap { ["-Xlinker", $0] } }
let lean: [LinkerSetting] =
    isForDevices ? [.unsafeFlags(forLinker(["--no-export-dynamic", "-z", "relro", "-z", "now", "--strip-debug"]))] : []
// A list of the functions that a start runs, which the linker puts side by side: `packaging/order` makes it.
let order = Context.environment["JUNCTION_ORDER"] ?? ""
let ordered: [LinkerSetting] =
    isForDevices && !order.isEmpty
    ? [.unsafeFlags(["-use-ld=lld"] + forLinker(["--symbol-ordering-file", order, "--no-warn-symbol-ordering"]))] : []
let fullyStatic: [LinkerSetting] = isForDevices ? [.unsafeFlags(["-static-executable"])] : []

/// For what `make test` plays a hundred thousand histories of: as it is on devices, but with its assertions.
let quick: [SwiftSetting] = [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

let rooms: [Room] = [
    // Ground floor: the kernel, the service manager, secrets, JSON text.
    Room(name: "CLinux", kind: .c, tests: nil),
    Room(name: "CSystemd", kind: .system(pkgConfig: "libsystemd", debian: "libsystemd-dev"), tests: nil),
    Room(name: "CCurl", kind: .system(pkgConfig: "libcurl", debian: "libcurl4-openssl-dev"), tests: nil),
    Room(name: "CWipe", kind: .c, tests: nil),
    Room(name: "JunctionText", home: clients),
    Room(name: "JunctionToml"),
    Room(name: "JunctionSecret", home: clients),
    Room(name: "JunctionJSON", home: clients, uses: ["JunctionSecret", "JunctionText"]),
    Room(name: "JunctionNotify", uses: ["CLinux"], tests: nil),
    Room(name: "RegistrationToken", home: clients, uses: ["JunctionText"], outside: [crypto]),

    // First floor: what is decided, and what is said.
    Room(name: "JunctionSession", uses: ["JunctionSecret"], tests: ["JunctionTesting"], settings: quick),
    Room(name: "JunctionProtocol", home: clients, uses: ["JunctionJSON", "JunctionSecret", "JunctionText"]),

    Room(name: "JunctionCourier", uses: ["JunctionSecret", "CLinux"]),

    // Second floor: the world outside, one door each.
    Room(
        name: "JunctionProviders",
        uses: [
            "JunctionSession", "JunctionCourier", "JunctionJSON", "JunctionSecret", "JunctionText", "RegistrationToken",
            "CLinux",
        ],
        outside: [nioCore, nioPosix, crypto],
        tests: ["JunctionTesting", "junctiond-courier"]
    ),
    Room(
        name: "JunctionVault",
        uses: ["JunctionSession", "JunctionJSON", "JunctionSecret", "JunctionText", "CLinux"],
        outside: [crypto]
    ),
    Room(
        name: "JunctionServer",
        uses: ["JunctionSession", "JunctionProtocol", "JunctionJSON", "JunctionSecret", "JunctionText", "CLinux"],
        outside: [nioCore, nioPosix, nioHTTP1],
        tests: ["JunctionTesting"],
        testsOutside: [nioEmbedded]
    ),
    Room(
        name: "JunctionSystemd",
        uses: ["JunctionNotify", "CSystemd", "CLinux"],
        outside: [logging],
        tests: ["JunctionTesting"]
    ),
    Room(
        name: "JunctionClient",
        home: clients,
        uses: ["JunctionProtocol", "JunctionJSON", "JunctionSecret"],
        tests: ["JunctionClientTesting", "JunctionClientFoundation"]
    ),

    // Third floor: wiring.
    Room(
        name: "JunctionDaemon",
        uses: [
            "JunctionSession", "JunctionProtocol", "JunctionCourier", "JunctionProviders", "JunctionVault",
            "JunctionServer", "JunctionSystemd", "JunctionSecret", "JunctionToml", "CLinux",
        ],
        outside: [logging, nioCore, nioPosix],
        tests: ["JunctionTesting", "JunctionClient", "junctiond-courier"],
        testsOutside: [nioEmbedded]
    ),

    // Fourth floor: doors.
    Room(
        name: "junctiond",
        kind: .executable,
        uses: ["JunctionDaemon", "CLinux", "CWipe"],
        tests: nil,
        linking: lean + ordered
    ),
    Room(
        name: "junctiond-courier",
        kind: .executable,
        uses: ["JunctionCourier", "JunctionNotify", "JunctionSecret", "CCurl", "CLinux", "CWipe"],
        tests: ["JunctionTesting"],
        linking: lean
    ),
    Room(
        name: "junctionctl",
        kind: .executable,
        uses: ["JunctionClient", "JunctionToml", "CLinux"],
        outside: [arguments],
        tests: [],
        linking: lean + fullyStatic
    ),

    // Beside the house: the cloud's stand-in, fakes for tests, and what `make bench` cannot see from outside.
    Room(
        name: "vault-probe",
        kind: .executable,
        uses: ["JunctionVault", "JunctionSession", "JunctionSecret"],
        tests: nil,
        linking: lean
    ),
    Room(name: "JunctionClientFoundation", home: clients, uses: ["JunctionClient"], tests: nil),
    Room(name: "JunctionClientTesting", home: clients, uses: ["JunctionClient", "JunctionJSON"], tests: nil),
    Room(name: "JunctionTesting", uses: ["JunctionSession", "JunctionSecret"], tests: nil),
    Room(
        name: "SandboxCloud",
        uses: ["RegistrationToken", "JunctionText"],
        outside: [hummingbird, hummingbirdCore, nioCore, crypto, cryptoExtras, logging],
        embedded: ["Page/page.html", "Page/page.css", "Page/page.js", "Page/icon.svg"]
    ),
    Room(
        name: "junction-sandbox",
        kind: .executable,
        uses: ["SandboxCloud", "RegistrationToken"],
        outside: [arguments, logging],
        tests: nil,
        linking: lean
    ),
]

let asked = (Context.environment["JUNCTION_ROOMS"] ?? "").split(separator: ",").map(String.init)
let roomNamed = Dictionary(uniqueKeysWithValues: rooms.map { ($0.name, $0) })

func closure(of names: [String]) -> Set<String> {
    var seen: Set<String> = []
    var pending = names
    while let name = pending.popLast() {
        guard let room = roomNamed[name], seen.insert(name).inserted else { continue }
        pending += room.uses
        if names.contains(name) { pending += room.tests ?? [] }
    }
    return seen
}

let wanted = asked.isEmpty ? Set(rooms.map(\.name)) : closure(of: asked)
let tested = asked.isEmpty ? wanted : Set(asked)

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

func dependencies(_ room: Room) -> [Target.Dependency] {
    room.uses.map { .target(name: $0) } + products(room.outside)
}

func products(_ outside: [Outside]) -> [Target.Dependency] {
    outside.map { .product(name: $0.product, package: $0.package) }
}

func target(_ room: Room) -> Target {
    switch room.kind {
    case .library:
        .target(
            name: room.name,
            dependencies: dependencies(room),
            path: "\(room.home)/\(room.name)",
            resources: room.embedded.map { .embedInCode($0) },
            swiftSettings: strict + room.settings
        )
    case .executable:
        .executableTarget(
            name: room.name,
            dependencies: dependencies(room),
            swiftSettings: strict + room.settings,
            linkerSettings: room.linking
        )
    case .c:
        .target(name: room.name)
    case .system(let pkgConfig, let debian):
        .systemLibrary(name: room.name, pkgConfig: pkgConfig, providers: [.apt([debian])])
    }
}

func testTarget(_ room: Room, alongside: [String]) -> Target {
    .testTarget(
        name: room.name + "Tests",
        dependencies: dependencies(room) + ([room.name] + alongside).map { .target(name: $0) }
            + products(room.testsOutside),
        exclude: ["JunctionProtocol", "JunctionVault"].contains(room.name) ? ["Fixtures"] : [],
        swiftSettings: strict
    )
}

let standing = rooms.filter { wanted.contains($0.name) }

var targets = standing.map(target)
for room in standing where tested.contains(room.name) {
    if let alongside = room.tests { targets.append(testTarget(room, alongside: alongside)) }
}
if asked.isEmpty {
    // The built programs and the client library, from outside, over real sockets, against the sandbox.
    targets.append(
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "junctiond", "junctiond-courier", "junctionctl", "junction-sandbox", "JunctionClient",
                "JunctionTesting",
            ],
            // Built by the tests themselves, as a library to preload: no product may hold it.
            exclude: ["Shims"],
            swiftSettings: strict
        )
    )
}

let packages = Set(standing.flatMap { $0.outside + (tested.contains($0.name) ? $0.testsOutside : []) }.map(\.package))

let package = Package(
    name: "junctiond",
    products: asked.isEmpty
        ? [
            .executable(name: "junctiond", targets: ["junctiond"]),
            .executable(name: "junctiond-courier", targets: ["junctiond-courier"]),
            .executable(name: "junctionctl", targets: ["junctionctl"]),
            .executable(name: "junction-sandbox", targets: ["junction-sandbox"]),
        ] : [],
    dependencies: releases.filter { packages.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value),
    targets: targets,
    swiftLanguageModes: [.v6]
)
