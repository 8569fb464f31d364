import BrokerPeerIdentity
import BrokerTrustedFiles
import Glibc
import Testing

@testable import BrokerManifests

private let good = """
    [app]
    id = "org.example.Mail"
    name = "Mail"
    executables = ["/usr/bin/mail"]

    """

@Suite("Reading a manifest")
struct ManifestReaderTests {
    private func read(_ text: String, id: String = "org.example.Mail") throws -> AppManifest {
        try ManifestReader.read(text, file: "m.toml", id: id)
    }

    @Test("A manifest names an app, its display name and its programs")
    func manifest() throws {
        #expect(
            try read(good) == AppManifest(app: "org.example.Mail", name: "Mail", executables: ["/usr/bin/mail"]))
        let two = try read(good.replacing("[\"/usr/bin/mail\"]", "[\"/usr/bin/mail\", \"/usr/libexec/mail worker\"]"))
        #expect(two.executables == ["/usr/bin/mail", "/usr/libexec/mail worker"])
    }

    @Test(
        "An invalid manifest is an error with line and key, and identifies no app",
        arguments: [
            ("", 0, "app"),
            ("app = 1", 1, "app"),
            (good.replacing("id =", "ident ="), 2, "app.ident"),
            (good.replacing("org.example.Mail", "mail"), 2, "app.id"),
            (good.replacing("org.example.Mail", "org..Mail"), 2, "app.id"),
            (good.replacing("org.example.Mail", "org.1.Mail"), 2, "app.id"),
            (good.replacing("org.example.Mail", "org.example.Other"), 2, "app.id"),
            (good.replacing("org.example.Mail", "org.exa mple.Mail"), 2, "app.id"),
            (good.replacing("\"Mail\"", "\"\""), 3, "app.name"),
            (good.replacing("\"Mail\"", "\"Ma\\nil\""), 3, "app.name"),
            (good.replacing("\"Mail\"", "7"), 3, "app.name"),
            (good.replacing("[\"/usr/bin/mail\"]", "[]"), 4, "app.executables"),
            (good.replacing("[\"/usr/bin/mail\"]", "\"/usr/bin/mail\""), 4, "app.executables"),
            (good.replacing("/usr/bin/mail", "bin/mail"), 4, "app.executables"),
            (good.replacing("/usr/bin/mail", "/usr/bin/../mail"), 4, "app.executables"),
            (good.replacing("/usr/bin/mail", "/usr//bin/mail"), 4, "app.executables"),
            (good.replacing("/usr/bin/mail", "/usr/bin/./mail"), 4, "app.executables"),
            (good.replacing("/usr/bin/mail", "/usr/bin/mail/"), 4, "app.executables"),
            (good.replacing("/usr/bin/mail", "/usr/bin/m\u{e4}il"), 4, "app.executables"),
            (good.replacing("/usr/bin/mail", "/usr/bin/python3.11"), 4, "app.executables"),
            (good.replacing("/usr/bin/mail", "/bin/sh"), 4, "app.executables"),
            (good.replacing("[\"/usr/bin/mail\"]", "[\"/a\", \"/a\"]"), 4, "app.executables"),
            (good + "runs = 1\n", 5, "app.runs"),
            (good + "[more]\n", 5, "more"),
        ])
    func wrong(text: String, line: Int, key: String) {
        let problem = #expect(throws: TrustedFileError.self) { try read(text) }
        #expect(problem?.key == key)
        #expect(problem?.line == (line == 0 ? nil : line))
    }

    @Test("Invalid TOML is an error with its line", arguments: ["[app", "id = ", good + "x = 1.5\n", good + "\0"])
    func noTOML(text: String) {
        #expect(throws: TrustedFileError.self) { try read(text) }
    }

    @Test("Our own manifest is valid")
    func ours() throws {
        let file =
            #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
            + "/apps.d/io.contactbroker.contactbook.toml"
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(descriptor, &bytes, 4_096)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        #expect(try read(text, id: "io.contactbroker.contactbook").executables.contains("/usr/bin/contactbook"))
    }
}

extension String {
    /// Replaces each occurrence of a part, without Foundation.
    fileprivate func replacing(_ part: String, _ other: String) -> String {
        var result = ""
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(part) {
                result += other
                rest = rest.dropFirst(part.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}

@Suite("The folder of manifests", .enabled(if: geteuid() == 0, "needs root: a manifest is root's"))
final class ManifestFolderTests {
    private let path: String

    init() throws {
        var template = Array("/tmp/apps-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        path = String(cString: made)
        chmod(path, 0o755)
    }

    deinit {
        for name in ["org.example.Mail.toml", "org.example.Post.toml", "other.toml", ".half.toml", "notes.txt"] {
            unlink(path + "/" + name)
        }
        rmdir(path)
    }

    private func write(_ text: String, to name: String, mode: mode_t = 0o644) throws {
        let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let bytes = Array(text.utf8)
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
        fchmod(file, mode)
    }

    private func problems() -> [TrustedFileError] { ManifestFolder(path: path).read().problems }

    @Test("An invalid manifest is reported and ignored; the others are used")
    func oneWrong() throws {
        try write(good, to: "org.example.Mail.toml")
        try write("[app]\nid = 1\n", to: "other.toml")
        try write("nothing", to: ".half.toml")
        try write("nothing", to: "notes.txt")
        let (manifests, problems) = ManifestFolder(path: path).read()
        #expect(
            manifests
                == AppManifests([AppManifest(app: "org.example.Mail", name: "Mail", executables: ["/usr/bin/mail"])]))
        #expect(problems.count == 1)
        #expect(problems.first?.description.hasPrefix("\(path)/other.toml:2: app.id: ") == true)
    }

    @Test("A missing folder has no manifests")
    func none() {
        let (manifests, problems) = ManifestFolder(path: path + "/none").read()
        #expect(manifests == AppManifests())
        #expect(problems.isEmpty)
    }

    @Test("A manifest that others can write to, or that belongs to another user, is ignored")
    func permissions() throws {
        try write(good, to: "org.example.Mail.toml", mode: 0o664)
        #expect(problems().first?.reason.contains("chmod") == true)
        try write(good, to: "org.example.Mail.toml")
        #expect(problems().isEmpty)
        chown(path + "/org.example.Mail.toml", 54_321, 0)
        #expect(problems().first?.reason.contains("54321") == true)
        chown(path + "/org.example.Mail.toml", 0, 0)
        chmod(path, 0o777)
        #expect(problems().first?.file == path)
        #expect(ManifestFolder(path: path).read().manifests == AppManifests())
    }

    @Test("A link, a FIFO and a file that is too long are ignored", .timeLimit(.minutes(10)))
    func noFiles() throws {
        let file = path + "/org.example.Mail.toml"
        try #require(symlink("/etc/passwd", file) == 0)
        #expect(problems().count == 1)
        unlink(file)
        try #require(mkfifo(file, 0o644) == 0)
        #expect(problems().count == 1)
        unlink(file)
        try write(String(repeating: "#", count: 65_537), to: "org.example.Mail.toml")
        #expect(problems().first?.reason.contains("65536") == true)
    }

    @Test("A program that two manifests name belongs to neither app")
    func dispute() throws {
        try write(good, to: "org.example.Mail.toml")
        try write(good.replacing("org.example.Mail", "org.example.Post"), to: "org.example.Post.toml")
        let (manifests, problems) = ManifestFolder(path: path).read()
        #expect(problems.count == 1)
        #expect(manifests == AppManifests())
    }
}
