// swift-tools-version: 6.2

import PackageDescription

// The mutation tester of the session core (README.md). It is a package of its own, so that neither this project nor its
// tests depend on swift-syntax.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "junctiond-mutation",
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax", exact: "603.0.1")
    ],
    targets: [
        .executableTarget(
            name: "mutation",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftOperators", package: "swift-syntax"),
            ],
            swiftSettings: strict
        ),
        .testTarget(name: "MutationTests", dependencies: ["mutation"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
