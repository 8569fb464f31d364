// swift-tools-version: 6.2
import PackageDescription

// A target may name only targets above it (Documentation/Architecture.md has the drawing).

/// A file imports every module whose declarations it uses.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// Swift's libraries become part of the program: it starts a third sooner, is smaller in memory, and runs where there is
/// no toolchain. Foundation, which the argument parser needs, does not name its parts by itself.
let ownRuntime =
    ["-static-stdlib"]
    + [
        "FoundationInternationalization", "FoundationEssentials", "CoreFoundation", "_FoundationICU",
        "_FoundationCShims", "_FoundationCollections", "swiftSynchronization",
    ].map { "-l" + $0 }

/// Which places of a program hold addresses, packed: the loader reads that list at every start (`DT_RELR`, glibc 2.36).
let shortStart = ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]

/// A program; one that is installed has its own runtime.
func program(_ name: String, _ dependencies: [Target.Dependency], isInstalled: Bool = false) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: strict,
        linkerSettings: isInstalled ? [.unsafeFlags(ownRuntime, .when(configuration: .release))] : [])
}

/// A program for people to read, that uses the library as apps do.
func example(_ name: String) -> Target {
    .executableTarget(name: name, dependencies: ["Contacts"], path: "Examples/\(name)", swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let csv = Target.Dependency.product(name: "SwiftCSV", package: "SwiftCSV")

let package = Package(
    name: "contactbroker",
    products: [
        .library(name: "Contacts", targets: ["Contacts"]),
        .executable(name: "contactbrokerd", targets: ["contactbrokerd"]),
        .executable(name: "contactbroker-identify", targets: ["contactbroker-identify"]),
        .executable(name: "contactbroker-thumbnail", targets: ["contactbroker-thumbnail"]),
        .executable(name: "contact-agent", targets: ["contact-agent"]),
        .executable(name: "contactctl", targets: ["contactctl"]),
        .executable(name: "contactbook", targets: ["contactbook"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swiftcsv/SwiftCSV", from: "0.10.0"),
    ],
    targets: [
        // What Swift cannot import: a few lines of C each.
        .target(name: "CLinux"),
        .target(name: "CAffinity"),
        .target(name: "CCrypto", linkerSettings: [.linkedLibrary("crypto")]),
        .target(name: "CIdentify", dependencies: ["CLinux", "CCrypto"]),
        .target(name: "CICU", linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
        .target(name: "CPhoneNumber", linkerSettings: [.linkedLibrary("phonenumber")]),
        // Of toml++ and xxHash only headers are needed.
        .target(name: "CTOML"),
        .target(name: "CXXHash"),
        // Decodes pictures. Of the programs, contactbroker-thumbnail alone sees it.
        .target(name: "CThumbnail", linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png")]),
        .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),

        // Ground floor: no input, no output.
        room("JSON"),
        room("ContactsModel", ["JSON"]),
        room("Normalization", ["ContactsModel", "CICU", "CPhoneNumber"]),
        .target(
            name: "Formatting", dependencies: ["ContactsModel", "CICU", "CPhoneNumber"],
            resources: [.embedInCode("Languages"), .embedInCode("Resources")], swiftSettings: strict),
        room("Varlink", ["JSON"]),
        room("VCard", ["ContactsModel", "CICU"]),
        room("ContactFiles", ["VCard", csv, "ContactsModel", "JSON"]),
        room("AccessControl", ["ContactsModel", "CCrypto", "JSON"]),
        .target(
            name: "ContactsInterface", dependencies: ["AccessControl", "Varlink", "ContactsModel", "JSON"],
            resources: [
                .embedInCode("Interfaces/io.contactbroker.Contacts.varlink"),
                .embedInCode("Interfaces/io.contactbroker.Agent.varlink"),
                .embedInCode("Interfaces/io.contactbroker.Admin.varlink"),
            ], swiftSettings: strict),

        // First floor: files, the kernel, sockets.
        room("Policy", ["AccessControl", "CCrypto", "CTOML", "ContactsModel"]),
        room("ContactsStore", ["Normalization", "CLinux", "CXXHash", grdbSQLite, "ContactsModel", "JSON"]),
        room("AccessStore", ["AccessControl", "CLinux", grdbSQLite, "CCrypto", "ContactsModel"]),
        room("PeerIdentity", ["AccessControl", "CLinux", "CIdentify", "CCrypto"]),
        room("Manifests", ["PeerIdentity", "Policy"]),
        room("VarlinkServer", ["Varlink", "CLinux"]),
        room("VarlinkClient", ["Varlink", "CLinux", "JSON"]),
        room("BrokerConnection", ["VarlinkClient", "CLinux"]),
        room(
            "Contacts",
            ["BrokerConnection", "ContactsInterface", "Formatting", "VCard", "ContactsModel", "JSON", "VarlinkClient"]),
        room("PasswordPrompt", ["CLinux"]),
        room("Thumbnails", ["CLinux"]),
        room("CommandOutput", ["BrokerConnection", "Formatting", arguments, "VarlinkClient"]),
        room("System", ["CSystemd", "AccessControl", "PeerIdentity", "Varlink"]),
        room(
            "Broker",
            [
                "AccessStore", "ContactsStore", "ContactsInterface", "Policy", "AccessControl", "ContactsModel", "JSON",
                "Varlink",
            ]),

        // The programs.
        .executableTarget(
            name: "contactbrokerd",
            dependencies: [
                "Broker", "CLinux", "Manifests", "PeerIdentity", "Policy", "System", "Thumbnails",
                "VarlinkServer", logging, "AccessControl", "AccessStore", "ContactsInterface", "ContactsModel",
                "Normalization", "Varlink",
            ],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-stdlib"] + shortStart, .when(configuration: .release))]),
        .executableTarget(
            name: "contactbroker-identify", dependencies: ["CIdentify", "CCrypto"], swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),
        .executableTarget(
            name: "contactbroker-thumbnail", dependencies: ["CThumbnail"],
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),
        // Its file gives contact-agent a group: it must find Swift's libraries wherever whoever starts it says they are.
        program(
            "contact-agent",
            [
                "BrokerConnection", "Formatting", "CLinux", "PasswordPrompt", "ContactsModel", "JSON", "Varlink",
                "VarlinkClient",
            ], isInstalled: true),
        program(
            "contactctl",
            [
                "CommandOutput", "PasswordPrompt", "BrokerConnection", "ContactsModel", "Formatting", "JSON",
                "VarlinkClient", arguments,
            ], isInstalled: true),
        program(
            "contactbook",
            ["Contacts", "CommandOutput", "ContactFiles", "CLinux", "ContactsModel", "Formatting", "VCard", arguments],
            isInstalled: true),
        .executableTarget(
            name: "AskForContact",
            dependencies: ["BrokerConnection", "Formatting", "ContactsModel", "JSON", "VarlinkClient"],
            path: "Examples/AskForContact",
            swiftSettings: strict),
        example("ContactsArticle"),
        example("CallerID"),
        example("SyncClient"),

        program(
            "contactbroker-bench",
            [
                "Contacts", "VarlinkClient", "VarlinkServer", "ContactsModel", "VCard", "PeerIdentity", "CAffinity",
                "CLinux", grdbSQLite, "JSON", "Varlink",
            ]),

        // What the tests need: other people's certification, a terminal, callers that really differ.
        .executableTarget(
            name: "CertificationServer", dependencies: ["VarlinkServer", "JSON", "Varlink"],
            path: "Tests/CertificationServer", swiftSettings: strict),
        .executableTarget(
            name: "CertificationClient", dependencies: ["VarlinkClient", "JSON"], path: "Tests/CertificationClient",
            swiftSettings: strict),
        .target(
            name: "PseudoTerminal", dependencies: ["CLinux"], path: "Tests/Support/PseudoTerminal",
            swiftSettings: strict),
        // The C file is for `make tsan` alone, which compiles it.
        .target(
            name: "ThreadSanitizer", path: "Tests/Support/ThreadSanitizer", exclude: ["mutex.c"],
            swiftSettings: strict),
        .executableTarget(
            name: "ScriptedPerson", dependencies: ["PseudoTerminal"], path: "Tests/Support/ScriptedPerson",
            swiftSettings: strict),
        .executableTarget(
            name: "HouseCompanion", dependencies: ["CLinux"], path: "Tests/HouseCompanion", swiftSettings: strict),
        // Sources as they are written for macOS, with nothing but Contacts and Foundation.
        .executableTarget(
            name: "Ports", dependencies: ["Contacts"], path: "Tests/Ports", swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "ContactsProbe", dependencies: ["Contacts"], path: "Tests/ContactsProbe", swiftSettings: strict),
        .target(name: "CTestCaller", path: "Tests/CTestCaller"),
        .target(
            name: "CFakePolkit", path: "Tests/Support/CFakePolkit", linkerSettings: [.linkedLibrary("systemd")]),
        .executableTarget(
            name: "StrengthProbe", dependencies: ["PeerIdentity", "CTestCaller", "AccessControl"],
            path: "Tests/StrengthProbe",
            swiftSettings: strict),

        tests("JSONTests", ["JSON"]),
        tests("VarlinkTests", ["Varlink", "JSON"]),
        tests("VarlinkServerTests", ["VarlinkServer", "VarlinkClient", "CLinux", "CTestCaller", "JSON", "Varlink"]),
        tests("ContactsModelTests", ["ContactsModel", "JSON"]),
        tests("NormalizationTests", ["Normalization", "CPhoneNumber", "ContactsModel"]),
        tests("FormattingTests", ["Formatting", "ContactsModel"]),
        tests("VCardTests", ["VCard", "ContactsModel", "JSON"]),
        tests("ContactFilesTests", ["ContactFiles", "ContactsModel"]),
        tests("AccessControlTests", ["AccessControl", "ContactsModel", "JSON"]),
        tests("PolicyTests", ["Policy", "AccessControl", "ContactsModel"]),
        tests("AccessStoreTests", ["AccessStore", "AccessControl", "CCrypto", "ContactsModel"]),
        tests("ContactsStoreTests", ["ContactsStore", grdb, "ContactsModel", "Normalization", grdbSQLite]),
        tests(
            "BrokerTests",
            [
                "Broker", "Policy", "AccessControl", "AccessStore", "ContactsInterface", "ContactsModel",
                "ContactsStore", "JSON", "Varlink",
            ]),
        tests(
            "BrokerAuditTests",
            ["Broker", "AccessControl", "AccessStore", "ContactsInterface", "ContactsModel", "JSON", "Varlink"]),
        tests(
            "PeerIdentityTests",
            [
                "PeerIdentity", "CTestCaller", "contactbroker-identify", "StrengthProbe", "ThreadSanitizer",
                "contactbrokerd", logging, "AccessControl", "AccessStore", "Broker", "CIdentify", "CLinux",
                "ContactsInterface", "Manifests", "Policy", "Varlink", "VarlinkServer",
            ]),
        tests("ManifestsTests", ["Manifests", "PeerIdentity", "Policy"]),
        .target(
            name: "CTestImage", path: "Tests/Support/CTestImage",
            linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png")]),
        .executableTarget(name: "ConfinementProbe", dependencies: ["CThumbnail"], path: "Tests/ConfinementProbe"),
        tests("ThumbnailTests", ["Thumbnails", "CTestImage", "contactbroker-thumbnail", "ConfinementProbe", "CLinux"]),
        tests("SystemTests", ["System", "CLinux", "PseudoTerminal", "CFakePolkit", "AccessControl", "Varlink"]),
        tests("BrokerConnectionTests", ["BrokerConnection", "VarlinkClient"]),
        tests(
            "ContactsTests",
            ["Contacts", "ContactsModel", "JSON", "BrokerConnection", "VarlinkClient", "ContactsInterface"]),
        tests("AgentTests", ["contact-agent", "PseudoTerminal", "CLinux", "ContactsModel", "Formatting", "JSON"]),
        tests(
            "CommandTests",
            [
                "contactctl", "contactbook", "CommandOutput", "PseudoTerminal", "ThreadSanitizer", "ContactsModel",
                "JSON",
            ]),
        tests(
            "HouseTests",
            [
                "ContactsInterface", "ContactsModel", "JSON", "Varlink", "VarlinkClient", "CLinux", "PseudoTerminal",
                "HouseCompanion", "contactbrokerd", "contact-agent", "contactctl", "contactbook", "AskForContact",
                "ContactsArticle", "CallerID", "SyncClient", "Ports", "ContactsProbe", "contactbroker-thumbnail",
                "CTestImage", "ThreadSanitizer", grdbSQLite,
            ]),
    ],
    cxxLanguageStandard: .cxx17
)
