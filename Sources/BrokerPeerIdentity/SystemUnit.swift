import Glibc

/// A service of the system's service manager.
public struct SystemUnit: Hashable, Sendable {
    /// The unit's full name, such as `backup.service`.
    public let name: String
    /// The user that `User=` sets. `nil` if the unit's files set no user, different users, or a user that
    /// cannot be resolved here.
    public let user: UInt32?
}

/// The units of the system's service manager, read from their files.
///
/// The control group names the unit of a process. No user can move a process into a group under
/// `system.slice`: that needs write access to a common ancestor of the old and the new group (cgroups(7),
/// delegation), which only root has. If a unit delegates a subgroup to its user, only processes of the unit
/// can be in that subgroup.
///
/// The control group alone is not enough: `cron.service` runs every user's jobs. The unit must therefore set
/// `User=` in files that only root can write. The unit must also be active: the manager keeps a link for each
/// active unit in `/run/systemd/units`. Services of a user's own manager are under `user.slice` and are not
/// handled here.
struct SystemUnits {
    /// The folders in which units are looked up, systemd.unit(5). The first folder that has the unit wins.
    private static let folders = [
        "/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient",
        "/run/systemd/generator.early", "/etc/systemd/system", "/etc/systemd/system.attached", "/run/systemd/system",
        "/run/systemd/system.attached", "/run/systemd/generator", "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system", "/run/systemd/generator.late",
    ]

    private let root: String

    /// - Parameter root: a prefix for every path, for tests.
    init(root: String = "") { self.root = root }

    /// Returns the unit; absent if the manager does not report it as active.
    func unit(_ name: String) -> Observation<SystemUnit> {
        var status = stat()
        guard lstat(root + "/run/systemd/units/invocation:" + name, &status) == 0 else {
            return errno == ENOENT ? .absent : .unreadable(errno: errno)
        }
        var settings = Settings()
        switch fragment(of: name) {
        case .found(let bytes): settings.read(bytes)
        case .absent: return .found(SystemUnit(name: name, user: nil))
        case .unreadable(let errno): return .unreadable(errno: errno)
        }
        for path in dropIns(of: name) {
            switch contents(ofFile: path) {
            case .found(let bytes): settings.read(bytes)
            case .absent: continue
            case .unreadable(let errno): return .unreadable(errno: errno)
            }
        }
        return .found(SystemUnit(name: name, user: settings.user.flatMap(Self.number(of:))))
    }

    private func fragment(of name: String) -> Observation<[UInt8]> {
        for name in [name, Self.template(of: name)].compactMap({ $0 }) {
            for folder in Self.folders {
                let found = contents(ofFile: "\(root)\(folder)/\(name)")
                guard found == .absent else { return found }
            }
        }
        return .absent
    }

    /// Returns the paths of the drop-ins for the unit, for its template, for every prefix of its name that
    /// ends in a dash, and for all services.
    private func dropIns(of name: String) -> [String] {
        var names = [name, "service"] + [Self.template(of: name)].compactMap { $0 }
        let stem = name.dropLast(".service".count).prefix { $0 != "@" }
        for index in stem.indices where stem[index] == "-" && index != stem.startIndex {
            names.append("\(stem[...index]).service")
        }
        return names.flatMap { name in
            Self.folders.flatMap { Self.files(in: "\(root)\($0)/\(name).d") }
        }
    }

    private static func template(of name: String) -> String? {
        name.firstIndex(of: "@").map { "\(name[...$0]).service" }
    }

    private static func files(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".conf") { paths.append("\(folder)/\(name)") }
        }
        return paths
    }

    private static func number(of user: String) -> UInt32? {
        if let number = UInt32(user) { return number }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 65_536)
        let size = buffer.count
        guard getpwnam_r(user, &entry, &buffer, size, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }

    /// Collects all values of `User=`, ignoring the order of the files. If they differ, the unit has no user.
    private struct Settings {
        private var users: Set<String> = []

        var user: String? { users.count == 1 ? users.first : nil }

        /// Parses one file, systemd.syntax(7).
        mutating func read(_ bytes: [UInt8]) {
            var isService = false
            var start = ""
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let text = Self.trimmed(String(decoding: line, as: UTF8.self))
                if text.hasPrefix("#") || text.hasPrefix(";") { continue }
                if text.hasSuffix("\\") {
                    start += text.dropLast() + " "
                    continue
                }
                let whole = Self.trimmed(start + text)
                start = ""
                if whole.hasPrefix("[") {
                    isService = whole == "[Service]"
                    continue
                }
                guard isService, let equals = whole.firstIndex(of: "="),
                    Self.trimmed(String(whole[..<equals])) == "User"
                else { continue }
                // Specifiers are not expanded, so a value with one resolves to no user.
                users.insert(Self.trimmed(String(whole[whole.index(after: equals)...])))
            }
        }

        private static func trimmed(_ text: String) -> String {
            let isBlank = { (character: Character) in character == " " || character == "\t" || character == "\r" }
            var rest = text[...]
            while let first = rest.first, isBlank(first) { rest = rest.dropFirst() }
            while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
            return String(rest)
        }
    }
}
