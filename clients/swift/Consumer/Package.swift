// swift-tools-version: 6.2

import PackageDescription

// An app as others write it: depends on the client alone. `clients/swift/check` builds it, and looks that nothing else came along.
let package = Package(
    name: "consumer",
    dependencies: [.package(name: "junctiond-clients", path: "..")],
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
