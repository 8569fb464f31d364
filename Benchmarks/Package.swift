// swift-tools-version: 6.2
import PackageDescription

// Measures contactbroker's programs; `make bench` in the folder above runs it. It is a separate package, so that building
// contactbroker does not need the benchmark's dependencies.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "contactbroker-benchmarks",
    dependencies: [.package(name: "contactbroker", path: "..")],
    targets: [
        .target(name: "CAffinity"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "contactbroker-bench",
            dependencies: [
                .product(name: "Contacts", package: "contactbroker"),
                .product(name: "InternalsForBenchmarks", package: "contactbroker"), "CAffinity", "CSQLite",
            ], swiftSettings: strict),
    ]
)
