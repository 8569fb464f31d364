import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Glibc
import Testing

@Suite("Interface descriptions and the code")
struct InterfaceTests {
    /// The file with the interface's text.
    static func path(of interface: ContactsInterface) -> String {
        Document.top + "/Sources/BrokerInterface/Interfaces/\(interface.name).varlink"
    }

    private static func file(_ interface: ContactsInterface) -> String { DaemonFixture.text(of: path(of: interface)) }

    /// The definitions in an interface's text by their first words, such as `type Contact`, without comments and white
    /// space.
    static func definitions(in text: String) -> [String: String] {
        var definitions: [String: String] = [:]
        var current = ""
        for line in text.split(separator: "\n") where line.first(where: { !$0.isWhitespace }) != "#" {
            let keyword = line.prefix { $0.isLetter }
            if ["interface", "type", "method", "error"].contains(keyword) {
                let name = line.dropFirst(keyword.count + 1).prefix { $0.isLetter || $0.isNumber || $0 == "." }
                current = "\(keyword) \(name)"
            }
            definitions[current, default: ""] += line.filter { !$0.isWhitespace }
        }
        return definitions
    }

    /// The names of all definitions of one kind.
    private static func names(of kind: String, in interface: ContactsInterface) -> [String] {
        definitions(in: file(interface)).keys.filter { $0.hasPrefix(kind + " ") }.map {
            String($0.dropFirst(kind.count + 1))
        }
    }

    /// The field names in a definition's first parentheses, which must contain no nested structure.
    private static func fields(of name: String, in interface: ContactsInterface) throws -> [String] {
        let definition = try #require(definitions(in: file(interface))[name], "\(name)")
        let fields = definition.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
        return fields.split(separator: ",").map { String($0.prefix { $0 != ":" }) }
    }

    @Test("Each socket returns its own interface byte for byte as in the project's file, and no other interface")
    func served() throws {
        let fixture = try DaemonFixture()
        for (door, own) in zip(
            fixture.sockets, ContactsInterface.allCases)
        {
            let line = try fixture.companion("mail").open(door)
            for asked in ContactsInterface.allCases {
                let reply = try line.call(
                    "org.varlink.service.GetInterfaceDescription", #"{"interface":"\#(asked.name)"}"#)
                // An opened connection there is that of an app.
                let isServed = asked == own || own == .cardDAV && asked == .contacts
                #expect(reply["description"]?.string == (isServed ? Self.file(asked) : nil))
                #expect(reply.error == (isServed ? nil : "InterfaceNotFound"))
            }
            let info = try line.call("org.varlink.service.GetInfo")
            let more = own == .cardDAV ? [ContactsInterface.contacts.name] : []
            #expect(info.strings("interfaces") == ["org.varlink.service", own.name] + more)
            #expect(info["product"]?.string == "contactbrokerd")
            #expect(info["version"]?.string == Release.version)
        }
    }

    @Test("Code and interface define the same methods", arguments: ContactsInterface.allCases)
    func methods(interface: ContactsInterface) {
        let coded =
            switch interface {
            case .contacts: ContactsMethod.allCases.map(\.rawValue)
            case .agent: AgentMethod.allCases.map(\.rawValue)
            case .admin: AdminMethod.allCases.map(\.rawValue)
            case .cardDAV: CardDAVMethod.allCases.map(\.rawValue)
            }
        #expect(Self.names(of: "interface", in: interface) == [interface.name])
        #expect(coded.sorted() == Self.names(of: "method", in: interface).sorted())
    }

    @Test("Each socket knows every method of its interface", arguments: ContactsInterface.allCases)
    func known(interface: ContactsInterface) throws {
        let fixture = try DaemonFixture()
        let door = fixture.sockets[ContactsInterface.allCases.firstIndex(of: interface) ?? 0]
        let text = Self.file(interface)
        for name in Self.names(of: "method", in: interface) {
            let line = try fixture.companion("mail").open(door)
            // No method has this parameter, so no call has an effect.
            let requiresMore = text.contains("# [Requires 'more' flag]\nmethod \(name)(")
            try line.begin("\(interface.name).\(name)", #"{"noSuchParameter":1}"#, more: requiresMore)
            let error = try line.reply().error
            #expect(error == "InvalidParameter", "\(name): \(error ?? "")")
        }
        let line = try fixture.companion("mail").open(door)
        #expect(try line.call(interface.name + ".NoSuchMethod").error == "MethodNotFound")
        #expect(try line.call("io.contactbroker.Nothing.GetInfo").error == "InterfaceNotFound")
    }

    @Test("Code and interface define the same keys of a contact")
    func keys() throws {
        let declared = try Self.fields(of: "type Contact", in: .contacts).filter {
            !["identifier", "revision"].contains($0)
        }
        #expect(declared.sorted() == ContactKey.allCases.map(\.rawValue).sorted())
    }

    @Test(
        "The interface declares every error that the code can send",
        arguments: [
            (ContactsInterface.contacts, "enum ContactsError"), (.agent, "enum AgentError"),
            (.admin, "enum AdminError"),
        ])
    func errors(interface: ContactsInterface, type: String) throws {
        let code = DaemonFixture.text(of: Document.top + "/Sources/BrokerInterface/ContactsError.swift")
        let start = try #require(code.firstRange(of: type)?.upperBound)
        let body = code[start...].split(separator: "\n}").first ?? ""
        let sent = body.split(separator: "prefix + \"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
        #expect(sent.count >= 3)
        let declared = Set(Self.names(of: "error", in: interface))
        #expect(Set(sent).isSubset(of: declared))
        // No other source file contains the name of an error of these interfaces.
        for path in DaemonFixture.paths(below: Document.top + "/Sources")
        where path.hasSuffix(".swift") && !path.hasSuffix("/ContactsError.swift") {
            #expect(!DaemonFixture.text(of: path).contains("VarlinkError(\"io.contactbroker"), "\(path)")
        }
    }

    @Test("Errors carry the parameters that the interface declares")
    func errorParameters() throws {
        let errors: [(ContactsInterface, VarlinkError)] = [
            (.contacts, ContactsError.accessDenied(.policyUnreadable)),
            (.contacts, ContactsError.authorizationNotDetermined),
            (.contacts, ContactsError.noAgent), (.contacts, ContactsError.storeUnavailable),
            (.contacts, ContactsError.tooManyPrompts(retryAfterSeconds: 1, reason: .crowd)),
            (.contacts, ContactsError.recordDoesNotExist(at: 0)),
            (.contacts, ContactsError.recordNotWritable(at: 0, identifier: "x")),
            (.contacts, ContactsError.unauthorizedKeys(["note"])), (.contacts, ContactsError.invalidPredicate("x")),
            (.contacts, ContactsError.invalidContact(at: 0, key: "x", reason: "x")),
            (.contacts, ContactsError.limitExceeded("x", maximum: 1, reason: "x")), (.agent, AgentError.unknownPrompt),
            (.agent, AgentError.tooManyAgents), (.agent, AgentError.authenticationFailed(.changed, "x")),
            (.agent, AgentError.invalidAnswer(.malformed, "x")), (.agent, AgentError.notAnAgent("x")),
            (.admin, AdminError.notAuthorized("x")), (.admin, AdminError.unknownApp("x")),
            (.admin, AdminError.invalidValue("x", reason: "x", formerRules: true)),
        ]
        for (interface, error) in errors {
            let name = error.name.split(separator: ".").last ?? ""
            var frame: [UInt8] = []
            ReplyFrame.append(error, to: &frame)
            let sent = try ReplyFrame(parsing: frame.dropLast()).parameters
            let names = sent.members?.compactMap { $0.name.string } ?? []
            #expect(try names == Self.fields(of: "error \(name)", in: interface), "\(name)")
        }
    }
}
