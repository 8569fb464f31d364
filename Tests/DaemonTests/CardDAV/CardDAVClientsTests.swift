import BrokerJSON
import Glibc
import Testing

/// `make test-clients` installs these programs, and sets the variable. Otherwise the tests say so and try nothing.
@Suite("Real clients of CardDAV", .serialized)
struct CardDAVClientsTests {
    /// They start many processes, which takes long on a machine that runs other tests.
    private static let patience = Duration.seconds(180)

    private func areInstalled(_ paths: String...) -> Bool {
        guard getenv("CONTACTBROKER_CLIENTS") != nil else {
            print("clients of CardDAV: not tried (make test-clients)")
            return false
        }
        let missing = paths.filter { access($0, R_OK) != 0 }
        if !missing.isEmpty {
            print("not installed: \(missing.joined(separator: ", ")); not tried (make test-clients)")
        }
        return missing.isEmpty
    }

    private func run(_ program: String, _ arguments: String..., in service: CardDAVFixture) throws -> Command {
        let done = try Command(
            "/usr/bin/" + program, arguments, in: service.fixture, input: "y\ny\n",
            environment: ["HOME": service.fixture.folder, "LC_ALL": "C.UTF-8"], within: Self.patience)
        #expect(done.end == .exited(0), "\(program) \(arguments): \(done.output) \(done.errors)")
        return done
    }

    @Test("vdirsyncer copies the limited book, and a second run changes nothing; khard shows it")
    func vdirsyncer() throws {
        guard areInstalled("/usr/bin/vdirsyncer", "/usr/bin/khard") else { return }
        let service = try CardDAVFixture()
        let folder = service.fixture.folder
        mkdir(folder + "/cards", 0o700)
        let settings = try service.fixture.file(
            "vdirsyncer.conf",
            """
            [general]
            status_path = "\(folder)/status"
            [pair book]
            a = "files"
            b = "server"
            collections = ["from b"]
            metadata = ["displayname"]
            [storage files]
            type = "filesystem"
            path = "\(folder)/cards/"
            fileext = ".vcf"
            [storage server]
            type = "carddav"
            url = "http://\(service.host)/"
            username = "\(CardDAVFixture.user)"
            password = "\(service.password)"
            """)
        func files() -> [String: [UInt8]] {
            DaemonFixture.contents(of: folder + "/cards").filter { $0.key.hasSuffix(".vcf") }
        }
        _ = try run("vdirsyncer", "-c", settings, "discover", in: service)
        _ = try run("vdirsyncer", "-c", settings, "sync", in: service)
        let first = files()
        #expect(first.count == 3)
        _ = try run("vdirsyncer", "-c", settings, "sync", in: service)
        #expect(files() == first)

        let khard = try service.fixture.file(
            "khard.conf",
            "[addressbooks]\n[[book]]\npath = \(folder)/cards/contacts\n[general]\neditor = /bin/true\n")
        let listed = try run("khard", "-c", khard, "list", "--parsable", in: service).output
        for name in CardDAVFixture.shared { #expect(listed.contains("\t\(name)\t"), "\(listed)") }
        #expect(listed.split(separator: "\n").count == 3)

        // A file that is edited, and one that is new.
        let ada = try #require(first.first { String(decoding: $0.value, as: UTF8.self).contains("FN:Ada") })
        let text = String(decoding: ada.value, as: UTF8.self)
        _ = try service.fixture.file(
            String(ada.key.dropFirst(folder.count + 1)),
            text.replacing("END:VCARD", with: "TITLE:Countess\r\nEND:VCARD"))
        let new = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:new-1\r\nFN:Marie Curie\r\nN:Curie;Marie;;;\r\nEND:VCARD\r\n"
        _ = try service.fixture.file("cards/contacts/new-1.vcf", new)
        _ = try run("vdirsyncer", "-c", settings, "sync", in: service)
        let titled = try service.keeper.call(
            "FetchContacts", #"{"keys":["jobTitle"],"predicate":{"name":"Ada"}}"#)["contacts"]
        #expect(titled?.elements?.compactMap { $0["jobTitle"]?.string } == ["Countess"])
        #expect(try service.tags().keys.contains(service.book + "new-1.vcf"))
        _ = try run("vdirsyncer", "-c", settings, "sync", in: service)
        let settled = files()
        _ = try run("vdirsyncer", "-c", settings, "sync", in: service)
        #expect(files() == settled && settled.count == 4)

        try service.revoke(contact: "Grace Hopper")
        _ = try run("vdirsyncer", "-c", settings, "sync", in: service)
        #expect(files().count == 3)
    }

    @Test("evolution-data-server sees the limited book, and a contact that is taken back goes")
    func evolutionDataServer() throws {
        guard areInstalled("/usr/bin/dbus-run-session", "/usr/libexec/evolution-addressbook-factory")
        else { return }
        let service = try CardDAVFixture()
        let bindings = "import gi; [gi.require_version(n, '1.2') for n in ('EBook', 'EDataServer', 'EBookContacts')]"
        guard
            try Command("/usr/bin/python3", ["-c", bindings], in: service.fixture, within: Self.patience).end
                == .exited(0)
        else {
            print("not installed: libebook for Python; not tried (make test-clients)")
            return
        }
        let home = service.fixture.folder + "/eds"
        mkdir(home, 0o700)
        let script = Document.top + "/Tests/Clients/eds.py"
        let client = try Command.Running(
            "/usr/bin/dbus-run-session",
            [
                "--", "/usr/bin/python3", script, home, "http://\(service.host)\(service.book)", CardDAVFixture.user,
                service.password, "3", "2", "3", "2",
            ], in: service.fixture)
        func line(_ number: Int) throws -> JSONValue {
            let lines = try client.wait(for: number, within: Self.patience).filter { $0.hasPrefix("{") }
            return try JSONDocument(parsing: Array((lines.last ?? "").utf8)).root
        }
        let first = try line(1)
        #expect(first["names"]?.elements?.compactMap(\.string) == CardDAVFixture.shared)
        #expect(first["readonly"]?.bool == false)
        try service.revoke(contact: "Grace Hopper")
        _ = try service.fixture.file("eds/go-1", "")
        let second = try line(2)
        #expect(second["names"]?.elements?.compactMap(\.string) == ["Ada Lovelace", "Lin Lanying"])
        // It writes whole cards, and says nothing of what it started from.
        _ = try service.fixture.file("eds/go-2.new", "add Marie\nnumber Ada +4479001\n")
        rename(home + "/go-2.new", home + "/go-2")
        #expect(try line(3)["names"]?.elements?.compactMap(\.string) == ["Ada Lovelace", "Lin Lanying", "Marie"])
        func person(_ name: String) throws -> JSONValue {
            try service.keeper.call(
                "FetchContacts",
                #"{"keys":["givenName","phoneNumbers","emailAddresses"],"predicate":{"name":"\#(name)"}}"#
            ).parameters
        }
        let ada = try person("Ada")["contacts"]?.elements?.first { _ in true }
        let numbers = ada?["phoneNumbers"]?.elements?.compactMap { $0["value"]?.string } ?? []
        #expect(numbers.contains("+4479001") && numbers.contains("+44 20 7946 0001"), "\(numbers)")
        #expect(ada?["emailAddresses"]?.elements?.compactMap { $0["value"]?.string } == ["ada@example.org"])
        #expect(try person("Marie")["contacts"]?.count == 1)
        _ = try service.fixture.file("eds/go-3.new", "delete Marie\n")
        rename(home + "/go-3.new", home + "/go-3")
        #expect(try line(4)["names"]?.elements?.compactMap(\.string) == ["Ada Lovelace", "Lin Lanying"])
        #expect(try person("Marie")["contacts"]?.count == 0)
        _ = try client.finish(within: Self.patience)
    }
}
