import BrokerAccessControl
import BrokerBounds
import BrokerTrustedFiles

/// The broker's settings from `CONFIG/contactbroker.toml`, which contains no rules about apps. The broker
/// reads it once, at startup.
public struct Settings: Hashable, Sendable {
    /// Whether to accept an answer that requires the person's password if no program can ask for the
    /// password. If `nil`, the broker's mode decides. The policy may set this too; the stricter value
    /// applies.
    public var withoutAuthentication: Policy.WithoutAuthentication?
    /// The region for phone numbers without a country code, such as `DE`. If `nil`, the locale decides.
    public var region: String?
    /// The language of the order of names, such as `sv`, for persons who set none. If `nil`, the locale decides.
    public var language: String?
    /// How long the broker keeps a book open after its user's last connection has closed.
    public var closesBooksAfter = Limits().closesBooksAfter
    /// The maximum number of connections of one user at each socket.
    public var connectionsPerUser = ServerLimits().connectionsPerUser
    /// The maximum number of connections of one app of a user at each socket: a quarter of
    /// ``connectionsPerUser``, but at least 16.
    public var connectionsPerApp: Int { max(Self.connections.lowerBound, connectionsPerUser / 4) }
    /// The maximum size of one user's book on the disk, in bytes.
    public var addressBookSize = SpaceBounds().book
    /// The full allowance, in bytes, of an app without full access. The allowance limits how much the app may
    /// add to a book, and refills with time.
    public var addressBookSizePerApp = SpaceBounds().app

    /// Whether every audit record also goes to the journal, for example to forward it to a log store.
    public var auditGoesToJournal = false

    /// Audit records of this many days are kept; `nil` for all.
    public var auditDays: Int?
    /// The most space that audit records may take, in bytes; `nil` for no bound.
    public var auditSize: Int64?

    /// Whether root may look up which apps may see or saw other users' contacts.
    public var mayLookUpContacts = false

    /// Why the file cannot be read. The broker then refuses every app.
    public private(set) var problem: TrustedFileError?

    static let fileName = "contactbroker.toml"
    /// The lower bound is enough for the programs of a desktop.
    private static let connections = 16...4_096
    private static let megabytes = 1...1_048_576
    /// Less than a month would remove records before anybody can notice what they show.
    private static let auditDays = 30...36_500
    /// The lower bound is a few segments.
    private static let auditMegabytes = 64...1_048_576

    /// The defaults, used without a file.
    public init() {}

    /// Settings for a file that cannot be read, with the strictest values for passwords and connections.
    /// While they apply, the journal gets no audit records. When the broker next starts with `journal` set,
    /// the journal also gets the records that it missed.
    public init(unreadable problem: TrustedFileError) {
        self.problem = problem
        withoutAuthentication = .refuse
        connectionsPerUser = Self.connections.lowerBound
    }

    /// - Parameter file: the file's name, for errors.
    init(_ text: String, file: String) throws(TrustedFileError) {
        let document = try TOMLTable(text, file: file)
        try document.allow(["admin", "agent", "audit", "contacts", "limits"])
        withoutAuthentication = try document.table("agent", ["without_authentication"])?.word("without_authentication")
        if let contacts = try document.table("contacts", ["close_after", "language", "region"]) {
            region = try contacts.string("region")
            guard region.map({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (65...90).contains($0) } }) ?? true else {
                throw contacts.wrong("region", "must be two capital letters, such as \"DE\" (ISO 3166-1)")
            }
            language = try contacts.string("language")
            let isTag = language.map { tag in
                !tag.isEmpty && tag.utf8.count <= 35
                    && tag.utf8.allSatisfy {
                        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2D
                    }
            }
            guard isTag ?? true else {
                throw contacts.wrong("language", "must be a language tag, such as \"sv\" or \"zh-Hant\" (BCP 47)")
            }
            if let seconds = try Lifespan.read("close_after", of: contacts, "must be a time such as \"5m\" or \"1h\"") {
                closesBooksAfter = .seconds(seconds)
            }
        }
        mayLookUpContacts = try document.table("admin", ["look_up_contacts"])?.bool("look_up_contacts") ?? false
        if let audit = try document.table("audit", ["journal", "keep_days", "keep_mb"]) {
            auditGoesToJournal = try audit.bool("journal") ?? false
            auditDays = try Self.number("keep_days", in: Self.auditDays, of: audit)
            auditSize = try Self.number("keep_mb", in: Self.auditMegabytes, of: audit).map { Int64($0) * 1_048_576 }
        }
        let keys = ["address_book_mb", "address_book_mb_per_app", "connections_per_user"]
        guard let limits = try document.table("limits", keys) else { return }
        connectionsPerUser = try Self.number(keys[2], in: Self.connections, of: limits) ?? connectionsPerUser
        addressBookSize = try Self.size(keys[0], of: limits) ?? addressBookSize
        addressBookSizePerApp = try Self.size(keys[1], of: limits) ?? addressBookSizePerApp
    }

    /// Returns a size in bytes. The file specifies it in MB.
    private static func size(_ name: String, of table: TOMLTable) throws(TrustedFileError) -> Int64? {
        try number(name, in: megabytes, of: table).map { Int64($0) * 1_048_576 }
    }

    private static func number(
        _ name: String, in range: ClosedRange<Int>, of table: TOMLTable
    ) throws(TrustedFileError) -> Int? {
        try table.read(name, "must be a number from \(range.lowerBound) to \(range.upperBound)") {
            $0.int.flatMap { range.contains($0) ? $0 : nil }
        }
    }
}
