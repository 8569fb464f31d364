import BrokerAccessControl
import CBrokerLinux
import Glibc

/// The folders from the root to a file, as the broker's own mount namespace shows them.
///
/// The broker opens one folder after the other and follows no link, so each folder contains the next one.
public struct FolderChain: Hashable, Sendable {
    /// The maximum number of folders above a file.
    static let deepest = 64

    /// The folders, the outermost first, without the root.
    public var folders: [Folder]
    /// The owner of the file.
    public var owner: UInt32
    /// Whether the file's group or everybody may write to the file.
    public var isSharedForWriting: Bool

    public struct Folder: Hashable, Sendable {
        public var path: String
        /// `nil` if the file system does not record when the folder was created.
        public var identity: FolderIdentity?
        public var owner: UInt32
        /// Whether the folder's group or everybody may write to the folder. An access control list shows in the group's
        /// permission.
        public var isSharedForWriting: Bool
        /// Whether the folder is part of the same mount as the file.
        public var isOnMountOfFile: Bool
    }

    private struct Entry {
        let path: String
        let status: clinux_file
        let identity: FolderIdentity?
    }

    /// Reads the folders above an executable.
    ///
    /// - Returns: `nil` if the path does not lead to this file, for example because it was deleted or a link is on the
    ///   way, or if the path has characters that ``ExecutablePath`` escapes.
    init?(above executable: Executable) {
        let file = executable.file
        guard !executable.isDeleted, let entries = Self.entries(of: executable.path), let last = entries.last,
            last.status.is_regular == 1, last.status.device_major == file.deviceMajor,
            last.status.device_minor == file.deviceMinor, last.status.inode == file.inode
        else { return nil }
        self.init(entries.dropLast(), last)
    }

    /// Reads a folder and those above it. The last of ``folders`` is the folder itself.
    ///
    /// - Parameter path: an absolute path without links.
    /// - Returns: `nil` if there is no such folder, or if the path has characters that ``ExecutablePath`` escapes.
    public init?(folder path: String) {
        guard let entries = Self.entries(of: path), let last = entries.last, last.status.is_folder == 1 else {
            return nil
        }
        self.init(entries[...], last)
    }

    private init(_ folders: ArraySlice<Entry>, _ last: Entry) {
        self.folders = folders.map { entry in
            Folder(
                path: entry.path, identity: entry.identity, owner: entry.status.owner,
                isSharedForWriting: entry.status.isSharedForWriting,
                isOnMountOfFile: entry.status.has_mount == 1 && last.status.has_mount == 1
                    && entry.status.mount == last.status.mount)
        }
        owner = last.status.owner
        isSharedForWriting = last.status.isSharedForWriting
    }

    private static func entries(of path: String) -> [Entry]? {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), ExecutablePath.text(of: bytes) == path else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        guard !parts.isEmpty, parts.count <= deepest + 1, !parts.contains(where: { $0 == ".." || $0 == "." }) else {
            return nil
        }
        var place = clinux_open_path(AT_FDCWD, "/", 0)
        defer { if place >= 0 { close(place) } }
        var entries: [Entry] = []
        var walked = ""
        for part in parts {
            guard place >= 0 else { return nil }
            let next = clinux_open_path(place, part, 0)
            close(place)
            place = next
            walked += "/" + part
            var status = clinux_file()
            guard place >= 0, clinux_file_status(place, &status) == 0 else { return nil }
            entries.append(Entry(path: walked, status: status, identity: FolderIdentity(of: place, status)))
        }
        return entries
    }
}

extension Evidence {
    /// Reads the folders above the executable. Only a session's broker does so, and only if the user declared a folder:
    /// the path is then one in the broker's own mount namespace. Reading them needs no privilege over the process.
    public mutating func findFolders() {
        guard vantage == .session, case .found(let executable) = executable,
            let chain = FolderChain(above: executable)
        else { return }
        folders = .found(chain)
    }
}

extension FolderIdentity {
    fileprivate init?(of descriptor: CInt, _ status: clinux_file) {
        var seconds: Int64 = 0
        var nanoseconds: UInt32 = 0
        guard clinux_creation_time(descriptor, &seconds, &nanoseconds) == 0 else { return nil }
        self.init(
            deviceMajor: status.device_major, deviceMinor: status.device_minor, inode: status.inode,
            createdSeconds: seconds, createdNanoseconds: nanoseconds)
    }
}

extension clinux_file {
    fileprivate var isSharedForWriting: Bool { mode & (S_IWGRP | S_IWOTH) != 0 }
}
