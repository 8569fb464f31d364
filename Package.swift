// swift-tools-version: 6.2
import PackageDescription

// A target may name only targets above it (Documentation/Architecture.md has the drawing).

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

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
        room("ContactFiles", ["VCard", csv]),
        room("AccessControl", ["ContactsModel", "CCrypto"]),
        .target(
            name: "ContactsInterface", dependencies: ["AccessControl", "Varlink"],
            resources: [
                .embedInCode("Interfaces/io.contactbroker.Contacts.varlink"),
                .embedInCode("Interfaces/io.contactbroker.Agent.varlink"),
                .embedInCode("Interfaces/io.contactbroker.Admin.varlink"),
            ], swiftSettings: strict),

        // First floor: files, the kernel, sockets.
        room("Policy", ["AccessControl", "CCrypto", "CTOML"]),
        room("ContactsStore", ["Normalization", "CLinux", "CXXHash", grdbSQLite]),
        room("AccessStore", ["AccessControl", "CLinux", grdbSQLite]),
        room("PeerIdentity", ["AccessControl", "CLinux", "CIdentify"]),
        room("Manifests", ["PeerIdentity", "Policy"]),
        room("VarlinkServer", ["Varlink", "CLinux"]),
        room("VarlinkClient", ["Varlink", "CLinux"]),
        room("BrokerConnection", ["VarlinkClient"]),
        room("Contacts", ["BrokerConnection", "ContactsInterface", "Formatting", "VCard"]),
        room("PasswordPrompt", ["CLinux"]),
        room("Thumbnails", ["CLinux"]),
        room("CommandOutput", ["BrokerConnection", "Formatting", arguments]),
        room("System", ["CSystemd", "AccessControl", "PeerIdentity", "Varlink"]),
        room("Broker", ["AccessStore", "ContactsStore", "ContactsInterface", "Policy"]),

        // The programs.
        .executableTarget(
            name: "contactbrokerd",
            dependencies: [
                "Broker", "CLinux", "Manifests", "PeerIdentity", "Policy", "System", "Thumbnails",
                "VarlinkServer", logging,
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
        program("contact-agent", ["BrokerConnection", "Formatting", "CLinux", "PasswordPrompt"], isInstalled: true),
        program("contactctl", ["CommandOutput", "PasswordPrompt"], isInstalled: true),
        program("contactbook", ["Contacts", "CommandOutput", "ContactFiles", "CLinux"], isInstalled: true),
        .executableTarget(
            name: "AskForContact", dependencies: ["BrokerConnection", "Formatting"], path: "Examples/AskForContact",
            swiftSettings: strict),
        example("ContactsArticle"),
        example("CallerID"),
        example("SyncClient"),

        program(
            "contactbroker-bench",
            [
                "Contacts", "VarlinkClient", "VarlinkServer", "ContactsModel", "VCard", "PeerIdentity", "CAffinity",
                "CLinux", grdbSQLite,
            ]),

        // What the tests need: other people's certification, a terminal, callers that really differ.
        .executableTarget(
            name: "CertificationServer", dependencies: ["VarlinkServer"],
            path: "Tests/CertificationServer", swiftSettings: strict),
        .executableTarget(
            name: "CertificationClient", dependencies: ["VarlinkClient"], path: "Tests/CertificationClient",
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
            name: "StrengthProbe", dependencies: ["PeerIdentity", "CTestCaller"], path: "Tests/StrengthProbe",
            swiftSettings: strict),

        tests("JSONTests", ["JSON"]),
        tests("VarlinkTests", ["Varlink"]),
        tests("VarlinkServerTests", ["VarlinkServer", "VarlinkClient", "CLinux", "CTestCaller"]),
        tests("ContactsModelTests", ["ContactsModel"]),
        tests("NormalizationTests", ["Normalization", "CPhoneNumber"]),
        tests("FormattingTests", ["Formatting"]),
        tests("VCardTests", ["VCard"]),
        tests("ContactFilesTests", ["ContactFiles"]),
        tests("AccessControlTests", ["AccessControl"]),
        tests("PolicyTests", ["Policy"]),
        tests("AccessStoreTests", ["AccessStore"]),
        tests("ContactsStoreTests", ["ContactsStore", grdb]),
        tests("BrokerTests", ["Broker", "Policy"]),
        tests("BrokerAuditTests", ["Broker"]),
        tests(
            "PeerIdentityTests",
            [
                "PeerIdentity", "CTestCaller", "contactbroker-identify", "StrengthProbe", "ThreadSanitizer",
                "contactbrokerd", logging,
            ]),
        tests("ManifestsTests", ["Manifests"]),
        .target(
            name: "CTestImage", path: "Tests/Support/CTestImage",
            linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png")]),
        .executableTarget(name: "ConfinementProbe", dependencies: ["CThumbnail"], path: "Tests/ConfinementProbe"),
        tests("ThumbnailTests", ["Thumbnails", "CTestImage", "contactbroker-thumbnail", "ConfinementProbe"]),
        tests("SystemTests", ["System", "CLinux", "PseudoTerminal", "CFakePolkit"]),
        tests("BrokerConnectionTests", ["BrokerConnection"]),
        tests("ContactsTests", ["Contacts", "ContactsModel", "JSON"]),
        tests("AgentTests", ["contact-agent", "PseudoTerminal"]),
        tests(
            "CommandTests",
            ["contactctl", "contactbook", "CommandOutput", "PseudoTerminal", "ThreadSanitizer"]),
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
