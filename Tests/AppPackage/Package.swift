// swift-tools-version: 6.2
import PackageDescription

// An app on the library Contacts, with targets that have plain names. SwiftPM rejects an app if one of its targets has the
// name of a target of ours that a product needs, so none of ours may have such a name. Only a package of its own can test
// this: SwiftPM compares the targets of different packages.

let plainNames = ["JSON", "VCard", "Formatting", "System", "Policy", "Broker", "CLinux"]

let package = Package(
    name: "app",
    // Without traits, SwiftPM fetches none of the dependencies of our programs.
    dependencies: [.package(name: "contactbroker", path: "../..", traits: [])],
    targets: plainNames.map { .target(name: $0) } + [
        .executableTarget(
            name: "App",
            dependencies: plainNames.map { .target(name: $0) }
                + [
                    .product(name: "Contacts", package: "contactbroker"),
                    .product(name: "ContactsUI", package: "contactbroker"),
                ])
    ]
)
