// swift-tools-version: 6.2

import PackageDescription

// An app that depends only on the client, as other developers write it. `clients/swift/check` builds it, and checks
// that the build needs no other package. JUNCTIOND_CLIENTS names the folder of an installed package.
let package = Package(
    name: "consumer",
    dependencies: [.package(name: "junctiond-clients", path: Context.environment["JUNCTIOND_CLIENTS"] ?? "..")],
    targets: [
        .executableTarget(
            name: "consumer",
            dependencies: [
                .product(name: "JunctionClient", package: "junctiond-clients"),
                .product(name: "JunctionClientTesting", package: "junctiond-clients"),
            ]
        )
    ]
)
