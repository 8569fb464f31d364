import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Glibc
import Testing

@Suite(
    "systemd's varlinkctl at the broker's sockets",
    .enabled(if: program != nil, "no varlinkctl of systemd 257 or later in PATH"))
struct VarlinkctlTests {
    private static func run(_ arguments: String..., in fixture: DaemonFixture) throws -> Command {
        let program = try #require(program)
        return try Command(program, ["--no-pager", "--timeout=20"] + arguments, in: fixture)
    }

    private static func doors(_ fixture: DaemonFixture) -> [(String, ContactsInterface)] {
        Array(zip(fixture.sockets, ContactsInterface.allCases))
    }

    @Test("It lists the interfaces of each socket and parses their descriptions in full")
    func introspects() throws {
        let fixture = try DaemonFixture()
        for (door, interface) in Self.doors(fixture) {
            let list = try Self.run("list-interfaces", door, in: fixture)
            #expect(
                list.output == "\(interface.name)\norg.varlink.service\n" && list.end == .exited(0), "\(list.errors)")
            let read = try Self.run("introspect", door, interface.name, in: fixture)
            #expect(read.end == .exited(0) && read.errors.isEmpty, "\(read.errors)")
            // varlinkctl prints what it has parsed, in its own format and order and without empty comments.
            let text = DaemonFixture.text(of: InterfaceTests.path(of: interface))
            let ours = InterfaceTests.definitions(in: text)
            #expect(InterfaceTests.definitions(in: read.output) == ours)
            #expect(Self.comments(in: read.output) == Self.comments(in: text))
            let methods = try Self.run("list-methods", door, interface.name, in: fixture)
            let count = ours.keys.count { $0.hasPrefix("method ") }
            #expect(methods.output.split(separator: "\n").count == count, "\(methods.errors)")
        }
    }

    private static func comments(in text: String) -> Set<Substring> {
        let lines = text.split(separator: "\n").map { $0.drop(while: \.isWhitespace) }
        return Set(lines.filter { $0.hasPrefix("#") && $0 != "#" })
    }

    @Test("It finds the text of each interface valid", arguments: ContactsInterface.allCases)
    func validates(interface: ContactsInterface) throws {
        let fixture = try DaemonFixture(starting: false)
        let said = try Self.run("validate-idl", InterfaceTests.path(of: interface), in: fixture)
        #expect(said.end == .exited(0) && said.errors.isEmpty, "\(said.errors)")
    }

    @Test("It calls methods and reports errors by name")
    func calls() throws {
        let fixture = try DaemonFixture()
        let contacts = "io.contactbroker.Contacts."
        let standing = try Self.run("call", "-j", fixture.appsSocket, contacts + "GetAuthorization", "{}", in: fixture)
        #expect(standing.output == #"{"status":"notDetermined"}"# + "\n" && standing.end == .exited(0))
        let unknown = try Self.run(
            "call", fixture.appsSocket, contacts + "CountContacts", #"{"nonsense":1}"#, in: fixture)
        #expect(unknown.end != .exited(0) && unknown.errors.contains("org.varlink.service.InvalidParameter"))
        let foreign = try Self.run("call", fixture.appsSocket, "io.contactbroker.Admin.ListGrants", "{}", in: fixture)
        #expect(foreign.end != .exited(0) && foreign.errors.contains("org.varlink.service.InterfaceNotFound"))
    }

    @Test("It collects the replies of a call with more")
    func collects() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let audit = try Self.run(
            "--more", "--json=short", "call", fixture.adminSocket, "io.contactbroker.Admin.QueryAudit", "{}",
            in: fixture)
        #expect(audit.end == .exited(0), "\(audit.errors)")
        // A record separator precedes each reply (RFC 7464).
        let records = try audit.output.split { $0 == "\u{1E}" || $0 == "\n" }.flatMap {
            try JSONDocument(parsing: Array($0.utf8)).root["records"]?.elements.map(Array.init) ?? []
        }
        #expect(!records.isEmpty && records.allSatisfy { $0["event"]?.string != nil })
    }
}

/// The first `varlinkctl` on `PATH` that is version 257 or later. Earlier versions lack commands that these tests use.
private let program: String? = {
    let folders = getenv("PATH").map { String(cString: $0) }?.split(separator: ":").map(String.init) ?? []
    return folders.map { $0 + "/varlinkctl" }.first { path in
        guard access(path, X_OK) == 0, let fixture = try? DaemonFixture(starting: false) else { return false }
        // The output begins like "systemd 257 (257.13-1)".
        let version = try? Command(path, ["--version"], in: fixture).output.split(separator: " ").dropFirst().first
        return version.flatMap { Int($0.prefix { $0.isNumber }) }.map { $0 >= 257 } ?? false
    }
}()
