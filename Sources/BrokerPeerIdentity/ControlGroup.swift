import Glibc

/// Reads the names in the path of a control group: the unit in which a process runs, and its app. The names
/// follow systemd's rules: <https://systemd.io/DESKTOP_ENVIRONMENTS/>.
///
/// The names of a user's units prove little: any program of the user can ask the user's own service manager
/// for any of them.
enum ControlGroup {
    /// A unit of a user's service manager that carries an app's name.
    struct AppUnit: Hashable {
        /// The user who owns that service manager.
        let uid: UInt32
        /// The program that started the app, such as `gnome`; often absent.
        let launcher: String?
        let app: String
        /// Whether the unit is a scope. The manager did not start a scope's processes; they were already running.
        let isScope: Bool
    }

    /// The control group, in the unified hierarchy, of the process that has this pid. Absent if the system
    /// does not use cgroups version 2.
    static func path(of pid: Int32) -> Observation<String> {
        switch contents(ofFile: "/proc/\(pid)/cgroup") {
        case .found(let bytes): unifiedPath(in: bytes).map { .found($0) } ?? .absent
        // The file exists as long as the process does. A missing file therefore says nothing about the group.
        case .absent: .unreadable(errno: ENOENT)
        case .unreadable(let errno): .unreadable(errno: errno)
        }
    }

    /// The path in the line `0::PATH` of `/proc/PID/cgroup`; `nil` if there is no such line.
    static func unifiedPath(in contents: [UInt8]) -> String? {
        let start = Array("0::".utf8)
        return contents.split(separator: UInt8(ascii: "\n"))
            .first { $0.starts(with: start) }
            .map { String(decoding: $0.dropFirst(start.count), as: UTF8.self) }
    }

    /// Parses `/user.slice/user-UID.slice/user@UID.service/app.slice/[SLICE/…]app-….scope` or `.service`, and
    /// the path of any group below that; `nil` for any other path.
    static func appUnit(of path: String) -> AppUnit? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 6, parts[0].isEmpty, parts[1] == "user.slice", parts[4] == "app.slice",
            let uid = userNumber(in: parts[2], after: "user-", before: ".slice"),
            uid == userNumber(in: parts[3], after: "user@", before: ".service"),
            // The unit is the first part that is not a slice. Groups below it belong to the unit.
            let unit = parts[5...].first(where: { !$0.hasSuffix(".slice") }),
            let (launcher, app) = appName(ofUnit: unit)
        else { return nil }
        return AppUnit(uid: uid, launcher: launcher, app: app, isScope: unit.hasSuffix(".scope"))
    }

    /// Parses `/system.slice/[SLICE/…]NAME.service`, and the path of any group below that; `nil` for any
    /// other path.
    static func systemUnit(of path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].isEmpty, parts[1] == "system.slice",
            let unit = parts[2...].first(where: { !$0.hasSuffix(".slice") }), unit.hasSuffix(".service")
        else { return nil }
        let name = unit.dropLast(".service".count)
        // A name that begins with a dot could be `..` and lead to another directory.
        guard !name.isEmpty, name.first != ".", unit.utf8.count <= 255,
            unit.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return nil }
        return String(unit)
    }

    /// The sandbox that the path names: `snap.NAME` or `flatpak.ID`, or only `snap` or `flatpak` if the
    /// sandbox's name is malformed; `nil` if the path names no sandbox.
    static func sandboxName(in path: String) -> String? {
        for part in path.split(separator: "/") {
            if part.hasPrefix("snap.") {
                let names = part.split(separator: ".", omittingEmptySubsequences: false)
                return names.count > 2 && isName(names[1]) ? "snap.\(names[1])" : "snap"
            }
            if part.hasPrefix("app-flatpak-") {
                guard let (launcher, app) = appName(ofUnit: part), launcher == "flatpak" else { return "flatpak" }
                return "flatpak.\(app)"
            }
        }
        return nil
    }

    /// Parses `app[-LAUNCHER]-ID-RANDOM.scope` or `app[-LAUNCHER]-ID[@RANDOM].service`.
    ///
    /// A dash inside an ID is written `\x2d`. A name with more unescaped dashes than these forms have is ignored,
    /// because it is unclear where its ID begins.
    private static func appName(ofUnit unit: Substring) -> (launcher: String?, app: String)? {
        var parts: [Substring]
        if unit.hasSuffix(".scope") {
            parts = unit.dropLast(".scope".count).split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count >= 3, parts.popLast()?.isEmpty == false else { return nil }
        } else if unit.hasSuffix(".service") {
            let name = unit.dropLast(".service".count).split(
                separator: "@", maxSplits: 1, omittingEmptySubsequences: false)[0]
            parts = name.split(separator: "-", omittingEmptySubsequences: false)
        } else {
            return nil
        }
        guard parts.count == 2 || parts.count == 3, parts[0] == "app", let last = parts.last,
            let app = unescape(last), isName(app)
        else { return nil }
        guard parts.count == 3 else { return (nil, app) }
        let launcher = parts[1]
        return isName(launcher) ? (String(launcher), app) : nil
    }

    /// Decodes the `\xNN` escapes of systemd.unit(5); `nil` if the text is malformed.
    private static func unescape(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// At most 255 letters, digits, dots, dashes and underscores, as in D-Bus names and desktop files.
    private static func isName(_ text: some StringProtocol) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// A user ID as systemd writes it: digits without a sign or leading zeros.
    private static func userNumber(in part: Substring, after start: String, before end: String) -> UInt32? {
        guard part.count > start.count + end.count, part.hasPrefix(start), part.hasSuffix(end) else { return nil }
        let digits = part.dropFirst(start.count).dropLast(end.count)
        guard let number = UInt32(digits), String(number) == digits else { return nil }
        return number
    }
}
