import BrokerBounds
import BrokerPeerIdentity
import BrokerTrustedFiles

/// Reads one manifest (Documentation/Manifests.md). It is strict like ``TOMLTable``: nothing in the file is
/// silently ignored.
enum ManifestReader {
    /// - Parameters:
    ///   - file: the file's path, for errors.
    ///   - id: the app's identifier according to the file's name.
    static func read(_ text: String, file: String, id: String) throws(TrustedFileError) -> AppManifest {
        let document = try TOMLTable(text, file: file)
        try document.allow(["app"])
        guard let app = try document.table("app", ["id", "name", "executables"]) else {
            throw document.wrong("app", "a manifest must have the table [app]")
        }
        guard let name = app["id"]?.string, isAppName(name) else {
            throw app.wrong(
                "id",
                "must be two or more words of letters, digits, - and _, joined by dots, such as \"org.example.Mail\"")
        }
        guard name == id else { throw app.wrong("id", "the file must be called \(name).toml") }
        guard let shown = app["name"]?.string, isShowable(shown) else {
            throw app.wrong(
                "name", "must be the app's name for people: one line of at most \(FileLimits.manifestName) bytes")
        }
        return AppManifest(app: name, name: shown, executables: try executables(app))
    }

    private static func executables(_ app: TOMLTable) throws(TrustedFileError) -> [String] {
        let key = "executables"
        guard let array = app[key]?.array, (1...FileLimits.executablesPerManifest).contains(array.count) else {
            throw app.wrong(key, "must be an array of 1 to \(FileLimits.executablesPerManifest) paths")
        }
        var paths: [String] = []
        for value in array {
            guard let path = value.string, isPath(path) else {
                throw app.wrong(
                    key, "must be absolute paths in printable ASCII, without ., .., // or \\, such as \"/usr/bin/mail\""
                )
            }
            guard !AppManifest.isInterpreter(path) else {
                throw app.wrong(key, "\(path) is an interpreter, so it identifies no app")
            }
            guard !paths.contains(path) else { throw app.wrong(key, "\(path) is listed twice") }
            paths.append(path)
        }
        return paths
    }

    /// Whether the text is a reverse-DNS name, as used for D-Bus names and desktop files.
    private static func isAppName(_ text: String) -> Bool {
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        return words.count >= 2 && text.utf8.count <= 255
            && words.allSatisfy { word in
                word.first.map { !$0.isNumber && $0 != "-" } == true
                    && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            }
    }

    private static func isShowable(_ text: String) -> Bool {
        (1...FileLimits.manifestName).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
    }

    /// Whether the path is absolute, normalized and printable ASCII without a backslash. The broker compares
    /// it with executables' paths in their escaped form, in which such a path is unchanged.
    private static func isPath(_ text: String) -> Bool {
        let names = text.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count < 4_096 && names.count >= 2 && names[0].isEmpty
            && names.dropFirst().allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
            && text.utf8.allSatisfy { (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") }
    }
}
