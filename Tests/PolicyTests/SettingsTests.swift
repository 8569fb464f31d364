import BrokerAccessControl
import BrokerBounds
import BrokerTrustedFiles
import Glibc
import Testing

@testable import BrokerPolicy

@Suite("Settings")
struct SettingsTests {
    private func refusal(of text: String) -> TrustedFileError? {
        do throws(TrustedFileError) {
            _ = try Settings(text, file: "contactbroker.toml")
            return nil
        } catch {
            return error
        }
    }

    @Test("The shipped file sets nothing, and its examples are valid")
    func shipped() throws {
        let path =
            #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/policy/contactbroker.toml"
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let text = String(decoding: buffer[..<fread(&buffer, 1, buffer.count, file)], as: UTF8.self)
        #expect(try Settings(text, file: path) == Settings())
        let examples = text.split(separator: "\n").filter { $0.hasPrefix("# [") || $0.contains(" = ") }
            .map { $0.dropFirst(2) }.joined(separator: "\n")
        var shown = try Settings(examples, file: path)
        #expect(shown.withoutAuthentication == .refuse)
        #expect(shown.region == "DE")
        shown.withoutAuthentication = nil
        shown.region = nil
        #expect(shown.auditGoesToJournal)
        shown.auditGoesToJournal = false
        #expect(shown.auditDays == 365 && shown.auditSize == 4_096 * 1_048_576)
        (shown.auditDays, shown.auditSize) = (nil, nil)
        #expect(shown.mayLookUpContacts)
        shown.mayLookUpContacts = false
        #expect(shown == Settings())
    }

    @Test("Each setting is read")
    func settings() throws {
        let settings = try Settings(
            """
            [agent]
            without_authentication = "allow"
            [contacts]
            region = "NL"
            close_after = "1h"
            [limits]
            connections_per_user = 16
            address_book_mb = 10
            address_book_mb_per_app = 1
            [audit]
            journal = true
            keep_days = 30
            keep_mb = 64
            [admin]
            look_up_contacts = true
            """, file: "x")
        #expect(settings.mayLookUpContacts)
        #expect(settings.auditGoesToJournal)
        #expect(settings.auditDays == 30 && settings.auditSize == 67_108_864)
        #expect(settings.withoutAuthentication == .allow)
        #expect(settings.region == "NL")
        #expect(settings.closesBooksAfter == .seconds(3_600))
        #expect(settings.addressBookSize == 10_485_760)
        #expect(settings.addressBookSizePerApp == 1_048_576)
        #expect(settings.connectionsPerUser == 16)
    }

    @Test(
        "An invalid file is an error with line and key",
        arguments: [
            ("[agent]\nwithout_authentification = \"refuse\"", 2, "agent.without_authentification"),
            ("[agent]\n\nwithout_authentication = \"maybe\"", 3, "agent.without_authentication"),
            ("[contacts]\nregion = \"de\"", 2, "contacts.region"),
            ("[audit]\njournal = \"yes\"", 2, "audit.journal"), ("[audit]\ndurable = true", 2, "audit.durable"),
            ("[audit]\nkeep_days = 29", 2, "audit.keep_days"), ("[audit]\nkeep_days = 36501", 2, "audit.keep_days"),
            ("[audit]\nkeep_days = \"30d\"", 2, "audit.keep_days"), ("[audit]\nkeep_mb = 63", 2, "audit.keep_mb"),
            ("[audit]\nkeep_mb = 1048577", 2, "audit.keep_mb"),
            ("[contacts]\nregion = 49", 2, "contacts.region"),
            ("[contacts]\nclose_after = \"5\"", 2, "contacts.close_after"),
            ("[limits]\nconnections_per_user = 15", 2, "limits.connections_per_user"),
            ("[limits]\nconnections_per_user = 4097", 2, "limits.connections_per_user"),
            ("[limits]\nconnections_per_user = \"16\"", 2, "limits.connections_per_user"),
            ("[limits]\naddress_book_mb = 0", 2, "limits.address_book_mb"),
            ("[limits]\naddress_book_mb = 1048577", 2, "limits.address_book_mb"),
            ("[limits]\n\naddress_book_mb_per_app = \"1\"", 3, "limits.address_book_mb_per_app"),
            ("[limits]\naddress_book = 10", 2, "limits.address_book"),
            ("[[rule]]\ndeny = true", 1, "rule"), ("identify = \"/tmp/x\"", 1, "identify"),
        ])
    func wrong(text: String, line: Int, key: String) {
        let refusal = refusal(of: text)
        #expect(refusal?.line == line)
        #expect(refusal?.key == key)
        #expect(refusal?.file == "contactbroker.toml")
    }

    @Test("Without a file or folder the defaults apply; a file that others may write to is refused")
    func folder() throws {
        var template = Array("/tmp/settings.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let file = path + "/contactbroker.toml"
        defer {
            unlink(file)
            rmdir(path)
        }
        let folder = PolicyFolder(configuration: path)
        #expect(try folder.readSettings() == Settings())
        #expect(try PolicyFolder(configuration: path + "/none").readSettings() == Settings())
        let text = Array("[contacts]\nregion = \"NL\"\n".utf8)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(write(descriptor, text, text.count) == text.count)
        #expect(try folder.readSettings().region == "NL")
        #expect(fchmod(descriptor, 0o620) == 0)
        #expect(throws: TrustedFileError.self) { try folder.readSettings() }
        close(descriptor)
    }

    @Test("If the file cannot be read, every setting has its strictest value")
    func strictest() throws {
        let problem = TrustedFileError(file: "x", reason: "y")
        let settings = Settings(unreadable: problem)
        #expect(settings.problem == problem)
        #expect(settings.withoutAuthentication == .refuse)
        #expect(!settings.auditGoesToJournal)
        #expect(settings.connectionsPerUser == 16)
        #expect(try Settings("", file: "x").problem == nil)
    }

    @Test("A problem of the common folder is reported once")
    func folderProblem() throws {
        var template = Array("/tmp/settings.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { rmdir(path) }
        try #require(chmod(path, 0o777) == 0)
        let problems = PolicyFolder(configuration: path).problems()
        #expect(problems.map(\.subject) == [.settings])
        let problem = TrustedFileError(file: path, reason: "others can write to it: chmod go-w")
        #expect(problems.map(\.reason) == [problem.description])
        #expect(PolicyFolder(configuration: path).settings().problem == problem)
        try #require(chmod(path, 0o755) == 0)
        #expect(PolicyFolder(configuration: path).problems().isEmpty)
    }

    @Test(
        "If only root may own the folder, another user's folder is refused", .enabled(if: getuid() == 0, "needs root"))
    func rootOnly() throws {
        var template = Array("/tmp/settings.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { rmdir(path) }
        try #require(chown(path, 65_534, 65_534) == 0)
        #expect(throws: TrustedFileError.self) { try PolicyFolder(configuration: path, owner: 0).readSettings() }
        #expect(throws: TrustedFileError.self) { try PolicyFolder(configuration: path, owner: 0).read() }
        #expect(try PolicyFolder(configuration: path, owner: 65_534).readSettings() == Settings())
    }
}
