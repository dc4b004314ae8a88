// swift-tools-version: 6.2

import PackageDescription

// The mutation tester: changes the session core in small ways, and looks whether a test minds. README.md says how
// to run it. A package of its own, so that neither this project nor its tests ever depend on swift-syntax.

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
