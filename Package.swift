// swift-tools-version: 6.2
import PackageDescription

// A target may depend only on targets above it (drawing in Documentation/Architecture.md).

/// Requires a file to import every module whose declarations it uses.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// What every layer of the broker may use.
let stores: [Target.Dependency] = [
    "BrokerAccessControl", "BrokerAccessStore", "BrokerBounds", "BrokerContactsStore", "BrokerDisclosure",
    "BrokerInterface", "BrokerJSON", "BrokerModel", "BrokerVarlink",
]
/// The layers that calls are made of.
let callLayers: [Target.Dependency] = [
    "BrokerParameters", "BrokerLedger", "BrokerBooks", "BrokerGrants", "BrokerCalls",
]
let brokerLayers = callLayers + ["BrokerAppCalls", "BrokerPersonCalls", "BrokerAdminCalls"]

/// Links Swift's libraries statically: the program starts a third faster, uses less memory, and runs without a
/// toolchain. Foundation, which the argument parser needs, does not list its own libraries for static linking.
let ownRuntime =
    ["-static-stdlib"]
    + [
        "FoundationInternationalization", "FoundationEssentials", "CoreFoundation", "_FoundationICU",
        "_FoundationCShims", "_FoundationCollections", "swiftSynchronization",
    ].map { "-l" + $0 }

/// Packs the relocations, which the loader reads at every start (`DT_RELR`, glibc 2.36).
let shortStart = ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]

/// A program. An installed one links Swift's runtime statically.
func program(_ name: String, _ dependencies: [Target.Dependency], isInstalled: Bool = false) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: strict,
        linkerSettings: isInstalled ? [.unsafeFlags(ownRuntime, .when(configuration: .release))] : [])
}

/// An example program that uses the library as apps do.
func example(_ name: String) -> Target {
    .executableTarget(name: name, dependencies: ["Contacts"], path: "Examples/\(name)", swiftSettings: strict)
}

/// The compiler may warn about sources that were written for macOS, as it does there. Only errors count.
let asOnMacOS = SwiftSetting.unsafeFlags(["-suppress-warnings"])

/// A program for tests that was written for macOS.
func port(_ name: String, _ folder: String, _ mode: SwiftLanguageMode, _ more: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["Contacts"] + more, path: "Tests/Ports/\(folder)",
        swiftSettings: [.swiftLanguageMode(mode), asOnMacOS])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A product of another package. Only our programs and tests need one: an app that turns the trait off does not fetch it.
func ofPrograms(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Programs"]))
}

let arguments = ofPrograms("ArgumentParser", "swift-argument-parser")
let logging = ofPrograms("Logging", "swift-log")
/// SwiftNIO, for HTTP. The broker does not link it (Documentation/Decisions/0006-own-event-loop-instead-of-nio.md).
let nio = ["NIOCore", "NIOPosix", "NIOHTTP1"].map { ofPrograms($0, "swift-nio") }

let package = Package(
    name: "contactbroker",
    products: [
        .library(name: "Contacts", targets: ["Contacts"]),
        .library(name: "ContactsUI", targets: ["ContactsUI"]),
        // Only for the package in Benchmarks/, which sees products but not targets. Not an API: any commit may change
        // it.
        .library(
            name: "InternalsForBenchmarks",
            targets: [
                "BrokerAccessControl", "BrokerAccessStore", "BrokerJSON", "BrokerModel", "BrokerPeerIdentity",
                "BrokerVCard", "BrokerVarlink", "BrokerVarlinkClient", "BrokerVarlinkServer", "CBrokerLinux",
            ]),
        .executable(name: "contactbrokerd", targets: ["contactbrokerd"]),
        .executable(name: "contactbroker-identify", targets: ["contactbroker-identify"]),
        .executable(name: "contactbroker-thumbnail", targets: ["contactbroker-thumbnail"]),
        .executable(name: "contactbroker-dav", targets: ["contactbroker-dav"]),
        .executable(name: "contact-agent", targets: ["contact-agent"]),
        .executable(name: "contactctl", targets: ["contactctl"]),
        .executable(name: "contactbook", targets: ["contactbook"]),
    ],
    traits: [
        .trait(
            name: "Programs",
            description:
                "The programs and the packages that they need. The libraries Contacts and ContactsUI need none."),
        .default(enabledTraits: ["Programs"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // C wrappers for what Swift cannot import.
        .target(name: "CBrokerLinux"),
        .systemLibrary(name: "CBrokerSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CBrokerCrypto", linkerSettings: [.linkedLibrary("crypto")]),
        .target(name: "CBrokerIdentify", dependencies: ["CBrokerLinux", "CBrokerCrypto"]),
        .target(name: "CBrokerICU", linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
        .target(name: "CBrokerPhoneNumber", linkerSettings: [.linkedLibrary("phonenumber")]),
        // Only headers of toml++ and xxHash are needed.
        .target(name: "CBrokerTOML"),
        .target(name: "CBrokerXXHash"),
        // Decodes pictures. Of the installed programs, only contactbroker-thumbnail links it.
        .target(name: "CBrokerThumbnail", linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png")]),
        .target(name: "CBrokerSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .systemLibrary(name: "CBrokerExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .target(name: "CBrokerCurses", linkerSettings: [.linkedLibrary("ncursesw")]),

        // Pure modules: no input or output.
        room("BrokerBounds"),
        room("BrokerJSON"),
        room("BrokerModel", ["BrokerBounds", "BrokerJSON"]),
        room("BrokerNormalization", ["BrokerModel", "CBrokerICU", "CBrokerPhoneNumber"]),
        .target(
            name: "BrokerFormatting", dependencies: ["BrokerModel", "CBrokerICU", "CBrokerPhoneNumber"],
            resources: [.embedInCode("Languages"), .embedInCode("Resources")], swiftSettings: strict),
        room("BrokerVarlink", ["BrokerJSON"]),
        room("BrokerVCard", ["BrokerBounds", "BrokerFormatting", "BrokerModel", "CBrokerICU"]),
        room("BrokerCardText", ["BrokerBounds", "BrokerVCard"]),
        room("BrokerDAV", ["BrokerModel", "CBrokerExpat"]),
        room("BrokerContactFiles", ["BrokerBounds", "BrokerVCard", "BrokerModel", "BrokerJSON"]),
        room("BrokerAccessControl", ["BrokerModel"]),
        room("BrokerAuditReport", ["BrokerAccessControl", "BrokerJSON", "BrokerModel"]),
        room("BrokerDisclosure", ["BrokerAccessControl", "BrokerJSON", "BrokerModel", "CBrokerCrypto"]),
        .target(
            name: "BrokerInterface",
            dependencies: ["BrokerVarlink", "BrokerJSON"],
            resources: [
                .embedInCode("Interfaces/io.contactbroker.Contacts.varlink"),
                .embedInCode("Interfaces/io.contactbroker.Agent.varlink"),
                .embedInCode("Interfaces/io.contactbroker.Admin.varlink"),
                .embedInCode("Interfaces/io.contactbroker.CardDAV.varlink"),
            ], swiftSettings: strict),

        // Modules for files, the kernel and sockets.
        room("BrokerTrustedFiles", ["CBrokerTOML"]),
        room(
            "BrokerPolicy",
            ["BrokerBounds", "BrokerTrustedFiles", "BrokerAccessControl", "CBrokerCrypto", "BrokerModel"]),
        room("BrokerSQLite", ["CBrokerSQLite"]),
        room(
            "BrokerContactsStore",
            [
                "BrokerBounds", "BrokerSQLite", "BrokerNormalization", "CBrokerLinux", "CBrokerXXHash", "CBrokerSQLite",
                "BrokerModel",
                "BrokerJSON",
            ]),
        room(
            "BrokerAccessStore",
            [
                "BrokerBounds", "BrokerSQLite", "BrokerAccessControl", "BrokerDisclosure", "CBrokerLinux",
                "CBrokerSQLite",
                "CBrokerCrypto", "BrokerModel",
            ]),
        room(
            "BrokerPeerIdentity",
            ["BrokerBounds", "BrokerAccessControl", "CBrokerLinux", "CBrokerIdentify", "CBrokerCrypto"]),
        room("BrokerManifests", ["BrokerBounds", "BrokerPeerIdentity", "BrokerTrustedFiles"]),
        room("BrokerVarlinkServer", ["BrokerBounds", "BrokerVarlink", "CBrokerLinux"]),
        room("BrokerVarlinkClient", ["BrokerVarlink", "CBrokerLinux", "BrokerJSON"]),
        room("BrokerConnection", ["BrokerVarlinkClient", "CBrokerLinux"]),
        room(
            "Contacts",
            [
                "BrokerBounds", "BrokerConnection", "BrokerInterface", "BrokerFormatting", "BrokerNormalization",
                "BrokerVCard",
                "BrokerModel", "BrokerJSON", "BrokerVarlinkClient",
            ]),
        room("ContactsUI", ["Contacts"]),
        room("BrokerPasswordPrompt", ["CBrokerLinux"]),
        room("BrokerThumbnails", ["CBrokerLinux"]),
        room(
            "BrokerCardDAV",
            [
                "BrokerBounds", "BrokerCardText", "BrokerDAV", "BrokerJSON", "BrokerModel", "BrokerSQLite",
                "BrokerVCard",
                "BrokerVarlinkClient", "CBrokerCrypto",
            ]),
        room(
            "BrokerCommandOutput",
            ["BrokerConnection", "BrokerFormatting", "BrokerModel", arguments, "BrokerVarlinkClient"]),
        room(
            "BrokerSystem",
            ["CBrokerSystemd", "CBrokerLinux", "BrokerAccessControl", "BrokerPeerIdentity", "BrokerVarlink"]),
        // The broker, lowest layer first. A layer may use those before it; the calls of apps, of the person and of
        // administrators do not know each other.
        room("BrokerParameters", stores),
        room("BrokerLedger", stores),
        room("BrokerBooks", stores + ["BrokerLedger"]),
        room("BrokerGrants", stores + ["BrokerParameters", "BrokerLedger", "BrokerBooks"]),
        room("BrokerCalls", stores + ["BrokerLedger", "BrokerBooks", "BrokerGrants"]),
        room("BrokerAppCalls", stores + callLayers),
        room("BrokerPersonCalls", stores + callLayers),
        room("BrokerAdminCalls", stores + callLayers),
        room("BrokerCore", stores + brokerLayers),

        // Programs.
        .executableTarget(
            name: "contactbrokerd",
            dependencies: [
                "BrokerBounds", "BrokerCore", "BrokerLedger", "BrokerGrants", "CBrokerLinux", "BrokerManifests",
                "BrokerPeerIdentity", "BrokerPolicy", "BrokerSystem", "BrokerThumbnails", "BrokerVarlinkServer",
                logging, "BrokerAccessControl",
                "BrokerAccessStore", "BrokerInterface", "BrokerModel", "BrokerNormalization", "BrokerVarlink",
            ],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-stdlib"] + shortStart, .when(configuration: .release))]),
        .executableTarget(
            name: "contactbroker-identify", dependencies: ["CBrokerIdentify", "CBrokerCrypto"], swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),
        .executableTarget(
            name: "contactbroker-thumbnail", dependencies: ["CBrokerThumbnail"],
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),
        .executableTarget(
            name: "contactbroker-dav",
            dependencies: [
                "BrokerBounds", "BrokerCardDAV", "BrokerDAV", "BrokerInterface", "BrokerVarlinkClient", "CBrokerLinux",
            ] + nio, swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-stdlib"] + shortStart, .when(configuration: .release))]),
        // contact-agent is setgid, so it must not load Swift's libraries from a path that its caller chooses.
        program(
            "contact-agent",
            [
                "BrokerConnection", "BrokerFormatting", "CBrokerCurses", "CBrokerLinux", "BrokerPasswordPrompt",
                "BrokerModel", "BrokerInterface", "BrokerJSON", "BrokerVarlink", "BrokerVarlinkClient",
            ], isInstalled: true),
        program(
            "contactctl",
            [
                "BrokerCommandOutput", "BrokerPasswordPrompt", "BrokerConnection", "BrokerModel", "BrokerFormatting",
                "BrokerAccessControl", "BrokerAuditReport", "BrokerJSON", "BrokerVarlinkClient", arguments,
                "BrokerPolicy", "BrokerTrustedFiles",
            ], isInstalled: true),
        program(
            "contactbook",
            [
                "Contacts", "BrokerCommandOutput", "BrokerContactFiles", "CBrokerLinux", "BrokerModel",
                "BrokerFormatting", "BrokerVCard", arguments,
            ],
            isInstalled: true),
        .executableTarget(
            name: "AskForContact",
            dependencies: ["BrokerConnection", "BrokerFormatting", "BrokerModel", "BrokerJSON", "BrokerVarlinkClient"],
            path: "Examples/AskForContact",
            swiftSettings: strict),
        example("ContactsArticle"),
        example("CallerID"),
        example("SyncClient"),
        example("Pickers"),

        // Support for tests: Varlink certification, a terminal, callers with different identities.
        .executableTarget(
            name: "CertificationServer", dependencies: ["BrokerVarlinkServer", "BrokerJSON", "BrokerVarlink"],
            path: "Tests/CertificationServer", swiftSettings: strict),
        .executableTarget(
            name: "CertificationClient", dependencies: ["BrokerVarlinkClient", "BrokerJSON"],
            path: "Tests/CertificationClient",
            swiftSettings: strict),
        .target(
            name: "PseudoTerminal", dependencies: ["CBrokerLinux"], path: "Tests/Support/PseudoTerminal",
            swiftSettings: strict),
        .target(name: "Approval", path: "Tests/Support/Approval", swiftSettings: strict),
        .target(
            name: "BookSamples", dependencies: ["BrokerModel"], path: "Tests/Support/BookSamples", swiftSettings: strict
        ),
        // Only `make tsan` compiles the C file.
        .target(
            name: "ThreadSanitizer", path: "Tests/Support/ThreadSanitizer", exclude: ["mutex.c"],
            swiftSettings: strict),
        .executableTarget(
            name: "ScriptedPerson", dependencies: ["PseudoTerminal"], path: "Tests/Support/ScriptedPerson",
            swiftSettings: strict),
        .executableTarget(
            name: "TestCompanion", dependencies: ["CBrokerLinux"], path: "Tests/TestCompanion", swiftSettings: strict),
        // Sources written for macOS, which compile unchanged in the language mode that they declare.
        .target(
            name: "ContactsWrapper", dependencies: ["Contacts"], path: "Tests/Ports/Wrapper",
            swiftSettings: [.swiftLanguageMode(.v5), asOnMacOS]),
        port("Ports", "Swift5", .v5, ["ContactsWrapper"]),
        port("PortsSwift6", "Swift6", .v6, ["ContactsUI"]),
        port("PortedScript", "Script", .v5),
        port("PortedServer", "Server", .v6),
        .executableTarget(
            name: "ContactsProbe", dependencies: ["Contacts"], path: "Tests/ContactsProbe", swiftSettings: strict),
        .target(name: "CTestCaller", path: "Tests/CTestCaller"),
        .target(
            name: "CTestICU", path: "Tests/Support/CTestICU",
            linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
        .target(
            name: "CFakePolkit", path: "Tests/Support/CFakePolkit", linkerSettings: [.linkedLibrary("systemd")]),
        .executableTarget(
            name: "StrengthProbe", dependencies: ["BrokerPeerIdentity", "CTestCaller", "BrokerAccessControl"],
            path: "Tests/StrengthProbe",
            swiftSettings: strict),

        tests("BoundsTests", ["BrokerBounds"]),
        tests("JSONTests", ["BrokerJSON"]),
        tests("VarlinkTests", ["BrokerVarlink", "BrokerJSON"]),
        tests(
            "VarlinkServerTests",
            [
                "BrokerBounds", "BrokerVarlinkServer", "BrokerVarlinkClient", "CBrokerLinux", "CTestCaller",
                "BrokerJSON",
                "BrokerVarlink",
            ]),
        tests("ContactsModelTests", ["BrokerBounds", "BrokerModel", "BrokerJSON"]),
        tests("NormalizationTests", ["BrokerNormalization", "CBrokerPhoneNumber", "BrokerModel", "CTestICU"]),
        tests("FormattingTests", ["BrokerFormatting", "BrokerModel"]),
        tests("VCardTests", ["BrokerBounds", "BrokerVCard", "BrokerModel", "BrokerJSON", "BookSamples"]),
        tests("CardTextTests", ["BrokerBounds", "BrokerCardText", "BrokerVCard", "BookSamples"]),
        tests("DAVTests", ["BrokerDAV", "BrokerModel"]),
        tests(
            "ContactFilesTests",
            ["BrokerBounds", "BrokerContactFiles", "BrokerModel", "BrokerVCard", "BookSamples"]),
        tests("AccessControlTests", ["BrokerAccessControl", "BrokerModel", "BrokerJSON", "BrokerDisclosure"]),
        tests(
            "PolicyTests", ["BrokerBounds", "BrokerPolicy", "BrokerTrustedFiles", "BrokerAccessControl", "BrokerModel"]),
        tests(
            "AccessStoreTests",
            [
                "BrokerBounds", "BrokerAccessStore", "BrokerAccessControl", "CBrokerCrypto", "BrokerModel",
                "BrokerDisclosure",
                "BrokerSQLite",
            ]),
        tests(
            "ContactsStoreTests",
            [
                "BrokerBounds", "BrokerContactsStore", "BrokerModel", "BrokerNormalization", "CBrokerSQLite",
                "BrokerSQLite",
            ]),
        tests(
            "BrokerTests",
            stores + brokerLayers + ["BrokerCore", "BrokerSQLite", "BrokerAuditReport", "BrokerPolicy"]),
        tests(
            "BrokerAuditTests",
            stores + brokerLayers + ["BrokerCore"]),
        tests(
            "PeerIdentityTests",
            [
                "BrokerBounds", "BrokerPeerIdentity", "CTestCaller", "contactbroker-identify", "StrengthProbe",
                "ConfinementProbe",
                "ThreadSanitizer", "contactbrokerd", logging, "BrokerAccessControl", "BrokerAccessStore", "BrokerCore",
                "BrokerLedger", "CBrokerIdentify", "CBrokerLinux", "BrokerInterface", "BrokerManifests", "BrokerPolicy",
                "BrokerVarlink", "BrokerVarlinkServer",
            ]),
        tests("ManifestsTests", ["BrokerManifests", "BrokerPeerIdentity", "BrokerTrustedFiles"]),
        .target(
            name: "CTestImage", path: "Tests/Support/CTestImage",
            linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png")]),
        .executableTarget(
            name: "ConfinementProbe", dependencies: ["CBrokerThumbnail", "CBrokerIdentify"],
            path: "Tests/ConfinementProbe"),
        tests(
            "ThumbnailTests",
            ["BrokerThumbnails", "CTestImage", "contactbroker-thumbnail", "ConfinementProbe", "CBrokerLinux"]),
        tests(
            "SystemTests",
            [
                "BrokerSystem", "CBrokerLinux", "PseudoTerminal", "CFakePolkit", "BrokerAccessControl", "BrokerVarlink",
                "BrokerPasswordPrompt",
            ]),
        tests("BrokerConnectionTests", ["BrokerConnection", "BrokerVarlinkClient"]),
        tests(
            "ContactsTests",
            [
                "Contacts", "ContactsUI", "BrokerModel", "BrokerJSON", "BrokerConnection", "BrokerVarlinkClient",
                "BrokerInterface",
            ]),
        tests(
            "CardDAVTests",
            [
                "BrokerBounds", "BrokerCardDAV", "BrokerCardText", "BrokerDAV", "BrokerJSON", "BrokerModel",
                "BrokerVCard", "contactbroker-dav", ofPrograms("NIOEmbedded", "swift-nio"),
            ] + nio),
        tests(
            "AgentTests",
            [
                "contact-agent", "Approval", "PseudoTerminal", "CBrokerCurses", "CBrokerLinux", "BrokerModel",
                "BrokerConnection", "BrokerFormatting", "BrokerInterface", "BrokerJSON", "BrokerPasswordPrompt",
                "BrokerVarlinkClient",
            ]),
        tests(
            "CommandTests",
            [
                "contactctl", "contactbook", "BrokerAuditReport", "BrokerCommandOutput", "Approval", "PseudoTerminal",
                "ThreadSanitizer", "BrokerModel", "BrokerJSON", "BrokerSystem", "BrokerVarlinkClient",
            ]),
        tests(
            "DaemonTests",
            [
                "BrokerBounds", "BrokerInterface", "BrokerModel", "BrokerJSON", "BrokerVarlink", "BrokerVarlinkClient",
                "BrokerVarlinkServer", "CBrokerLinux", "CTestCaller", "PseudoTerminal", "TestCompanion",
                "contactbrokerd", "contact-agent", "contactctl", "contactbook", "AskForContact", "ContactsArticle",
                "CallerID", "SyncClient", "Pickers", "Ports",
                "PortedScript", "PortedServer", "PortsSwift6", "ContactsProbe", "contactbroker-thumbnail", "CTestImage",
                "ThreadSanitizer", "CBrokerSQLite", "BrokerAccessControl", "BrokerAccessStore", "BookSamples",
                "BrokerDAV", "contactbroker-dav",
            ]),
    ],
    cxxLanguageStandard: .cxx17
)
