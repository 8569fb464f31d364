/// An address book of its own for a program that speaks CardDAV, such as Thunderbird. The person made it with `contactctl connect`,
/// and any program that knows its password can use what the person gave it. For grants, policy and records it is an app with this name.
public struct CardDAVConnection: Hashable, Sendable {
    public let uid: UInt32
    /// See ``isName(_:)``.
    public let name: String
    /// Distinguishes this connection from former ones with its name: 32 hexadecimal digits.
    public let identifier: String
    /// For hashes that the service stores of what it sent: 16 bytes.
    public let key: [UInt8]
    /// SHA-256 of the password.
    public var passwordHash: [UInt8]
    /// In seconds since 1970.
    public let madeAt: Int64
    /// When the connection was first used without access, in seconds since 1970; `nil` while a grant or a rule gives it access.
    public var lapsedAt: Int64?

    public init(
        uid: UInt32, name: String, identifier: String, key: [UInt8], passwordHash: [UInt8], madeAt: Int64,
        lapsedAt: Int64? = nil
    ) {
        self.uid = uid
        self.name = name
        self.identifier = identifier
        self.key = key
        self.passwordHash = passwordHash
        self.madeAt = madeAt
        self.lapsedAt = lapsedAt
    }

    public var principal: Principal { Principal(uid: uid, strength: .password, app: name) }

    /// Whether a connection may have this name: 1 to 32 of the characters a to z, 0 to 9 and -. Such a name can be typed, and be
    /// a part of an address.
    public static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}

extension Caller {
    /// A connection of a program that speaks CardDAV.
    ///
    /// - Parameter caller: the program that calls for it: the service, or the person's `contactctl` that makes the connection.
    public init(connection name: String, of uid: UInt32, calledBy caller: Caller) {
        self.init(
            uid: uid, strength: .password, app: name, displayName: name, executable: nil, process: caller.process,
            session: nil, terminal: nil, isInterpreter: false, isSandboxed: false)
    }
}
