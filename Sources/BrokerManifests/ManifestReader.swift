import BrokerPeerIdentity
import BrokerPolicy

/// Reads one manifest (Documentation/Manifests.md). Strict, as the administrator's rules are read: what was meant and not
/// understood must not be left out in silence.
struct ManifestReader {
    /// Programs of one app.
    static let maximumExecutables = 64
    /// Bytes of an app's name for people.
    static let longestName = 100

    private let file: AdministratorFile

    /// - Parameters:
    ///   - file: its path, for problems.
    ///   - id: what the file's name says that the app is.
    static func read(_ text: String, file: String, id: String) throws(ManifestProblem) -> AppManifest {
        try ManifestReader(file: AdministratorFile(text, file: file)).manifest(id)
    }

    private func manifest(_ id: String) throws(ManifestProblem) -> AppManifest {
        try file.allow(["app"], in: file.document, "")
        guard let app = file.document["app"]?.table else { throw file.wrong("app", "a manifest has one table, [app]") }
        try file.allow(["id", "name", "executables"], in: app, "app.")
        guard let name = app["id"]?.string, Self.isAppName(name) else {
            throw file.wrong(
                "app.id", "two or more words of letters, digits, - and _, with dots between, as \"org.example.Mail\"")
        }
        guard name == id else { throw file.wrong("app.id", "the file must be called \(name).toml") }
        guard let shown = app["name"]?.string, Self.isShowable(shown) else {
            throw file.wrong("app.name", "what people call it: one line of at most \(Self.longestName) bytes")
        }
        return AppManifest(app: name, name: shown, executables: try executables(app))
    }

    private func executables(_ app: TOMLTable) throws(ManifestProblem) -> [String] {
        let key = "app.executables"
        guard let array = app["executables"]?.array, (1...Self.maximumExecutables).contains(array.count) else {
            throw file.wrong(key, "an array of 1 to \(Self.maximumExecutables) paths")
        }
        var paths: [String] = []
        for index in 0..<array.count {
            guard let path = array[index].string, Self.isPath(path) else {
                throw file.wrong(
                    key, "whole paths in plain letters, without . or .. or // in them, as \"/usr/bin/mail\"")
            }
            guard !AppManifest.isInterpreter(path) else {
                throw file.wrong(key, "\(path) runs other people's programs, so that it names no app")
            }
            guard !paths.contains(path) else { throw file.wrong(key, "\(path) stands there twice") }
            paths.append(path)
        }
        return paths
    }

    /// As D-Bus and desktop files have them.
    static func isAppName(_ text: String) -> Bool {
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        return words.count >= 2 && text.utf8.count <= 255
            && words.allSatisfy { word in
                guard let first = word.utf8.first, !(48...57).contains(first), first != UInt8(ascii: "-") else {
                    return false
                }
                return word.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
            }
    }

    private static func isShowable(_ text: String) -> Bool {
        (1...longestName).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
    }

    /// Printable ASCII without a backslash: the one form in which a path is compared is then the path itself.
    private static func isPath(_ text: String) -> Bool {
        let names = text.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count < 4_096 && names.count >= 2 && names[0].isEmpty
            && names.dropFirst().allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
            && text.utf8.allSatisfy { (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") }
    }
}
