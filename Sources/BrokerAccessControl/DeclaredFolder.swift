/// One folder of a file system. A folder that is removed and made again is another one, even at the same path and with
/// the same inode number, because its time of creation differs.
public struct FolderIdentity: Hashable, Sendable {
    public let deviceMajor: UInt32
    public let deviceMinor: UInt32
    public let inode: UInt64
    /// The time of creation since 1970, statx(2).
    public let createdSeconds: Int64
    public let createdNanoseconds: UInt32

    public init(
        deviceMajor: UInt32, deviceMinor: UInt32, inode: UInt64, createdSeconds: Int64, createdNanoseconds: UInt32
    ) {
        self.deviceMajor = deviceMajor
        self.deviceMinor = deviceMinor
        self.inode = inode
        self.createdSeconds = createdSeconds
        self.createdNanoseconds = createdNanoseconds
    }
}

/// A folder that the person declared through the agent. A program below it is the same app as long as its file name is the
/// same, so a program that is built again stays the same app.
public struct DeclaredFolder: Hashable, Sendable {
    public let uid: UInt32
    /// The path without links when the folder was declared. Control characters, backslashes and bytes that are not
    /// UTF-8 do not occur in it.
    public let path: String
    public let identity: FolderIdentity
    /// When the declaration ends, in seconds since 1970.
    public var ends: Int64

    public init(uid: UInt32, path: String, identity: FolderIdentity, ends: Int64) {
        self.uid = uid
        self.path = path
        self.identity = identity
        self.ends = ends
    }

    /// The app's identifier. The kernel writes no double slash into a path, and a file name has no slash, so two
    /// different pairs of folder and program never have the same identifier.
    public func app(program: String) -> String { "\(path)//\(program)" }
}

extension Principal {
    /// The path of the declared folder that identifies the app; `nil` at any other strength.
    public var declaredFolder: String? {
        guard strength == .declared else { return nil }
        let bytes = app.utf8
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > bytes.startIndex else { return nil }
        return String(app[..<bytes.index(before: slash)])
    }
}

extension Caller {
    /// The path of the declared folder that identifies the app; `nil` at any other strength.
    public var declaredFolder: String? { Principal(uid: uid, strength: strength, app: app).declaredFolder }
}
