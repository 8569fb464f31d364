import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Glibc
import Testing

@Suite(
    "systemd's varlinkctl at the broker's sockets",
    .enabled(if: program != nil, "no varlinkctl of systemd 257 or later in PATH"))
struct VarlinkctlTests {
    private static func run(_ arguments: String..., in house: House) throws -> Command {
        let program = try #require(program)
        return try Command(program, ["--no-pager", "--timeout=20"] + arguments, in: house)
    }

    private static func doors(_ house: House) -> [(String, ContactsInterface)] {
        Array(zip([house.appsDoor, house.agentDoor, house.adminDoor], ContactsInterface.allCases))
    }

    @Test("It lists the interfaces of each socket and parses their descriptions in full")
    func introspects() throws {
        let house = try House()
        for (door, interface) in Self.doors(house) {
            let list = try Self.run("list-interfaces", door, in: house)
            #expect(
                list.output == "\(interface.name)\norg.varlink.service\n" && list.end == .exited(0), "\(list.errors)")
            let read = try Self.run("introspect", door, interface.name, in: house)
            #expect(read.end == .exited(0) && read.errors.isEmpty, "\(read.errors)")
            // varlinkctl prints what it has parsed, in its own format and order and without empty comments.
            let text = House.text(of: InterfaceTests.path(of: interface))
            let ours = InterfaceTests.definitions(in: text)
            #expect(InterfaceTests.definitions(in: read.output) == ours)
            #expect(Self.comments(in: read.output) == Self.comments(in: text))
            let methods = try Self.run("list-methods", door, interface.name, in: house)
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
        let house = try House(starting: false)
        let said = try Self.run("validate-idl", InterfaceTests.path(of: interface), in: house)
        #expect(said.end == .exited(0) && said.errors.isEmpty, "\(said.errors)")
    }

    @Test("It calls methods and reports errors by name")
    func calls() throws {
        let house = try House()
        let contacts = "io.contactbroker.Contacts."
        let standing = try Self.run("call", "-j", house.appsDoor, contacts + "GetAuthorization", "{}", in: house)
        #expect(standing.output == #"{"status":"notDetermined"}"# + "\n" && standing.end == .exited(0))
        let unknown = try Self.run("call", house.appsDoor, contacts + "CountContacts", #"{"nonsense":1}"#, in: house)
        #expect(unknown.end != .exited(0) && unknown.errors.contains("org.varlink.service.InvalidParameter"))
        let foreign = try Self.run("call", house.appsDoor, "io.contactbroker.Admin.ListGrants", "{}", in: house)
        #expect(foreign.end != .exited(0) && foreign.errors.contains("org.varlink.service.InterfaceNotFound"))
    }

    @Test("It collects the replies of a call with more")
    func collects() throws {
        let house = try House()
        let person = try house.person()
        try house.keeper(with: person)
        let audit = try Self.run(
            "--more", "--json=short", "call", house.adminDoor, "io.contactbroker.Admin.QueryAudit", "{}", in: house)
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
        guard access(path, X_OK) == 0, let house = try? House(starting: false) else { return false }
        // The output begins like "systemd 257 (257.13-1)".
        let version = try? Command(path, ["--version"], in: house).output.split(separator: " ").dropFirst().first
        return version.flatMap { Int($0.prefix { $0.isNumber }) }.map { $0 >= 257 } ?? false
    }
}()
