import BrokerJSON
import BrokerModel
import Glibc
import Testing

extension DaemonFixture {
    /// A fixture with a person, in which contactbook has full access, including notes.
    static func withContactbook() throws -> DaemonFixture {
        let fixture = try DaemonFixture()
        try fixture.allowContactbook(by: try fixture.person())
        return fixture
    }

    /// Gives contactbook full access, including notes.
    func allowContactbook(by person: Person) throws {
        let exported = try contactbook("export", "--notes") {
            let keys = ContactKey.allCases.map(\.rawValue)
            try person.answer(
                try person.prompt(),
                #""level":"full","lifetime":"untilRevoked","changes":"all","keys":\#(quoted(keys))"#)
        }
        #expect(exported.end == .exited(0), "\(exported.errors)")
    }

    /// The exported cards without UIDs that the broker made and without revision times.
    func book() throws -> Set<String> {
        let listed = try contactbook("export", "--notes", "--format", "vcard4", "--no-groups")
        let cards = listed.output.split(separator: "END:VCARD\r\n")
        // A UID that the broker made is a UUID; other UIDs belong to the cards.
        return Set(
            cards.map {
                $0.split(separator: "\r\n").filter { !$0.hasPrefix("UID:urn:uuid") && !$0.hasPrefix("REV") }.sorted()
                    .joined(separator: "\n")
            })
    }

    /// Creates a file in this fixture's folder and returns its path.
    func file(_ name: String, _ text: String) throws -> String {
        let path = folder + "/" + name
        try DaemonFixture.write(Array(text.utf8), to: path)
        return path
    }

    /// Returns an environment in which `EDITOR` runs this script.
    func editor(_ script: String) throws -> [String: String] {
        let path = folder + "/editor"
        try DaemonFixture.write(Array("#!/bin/sh\n\(script)\n".utf8), to: path)
        return ["EDITOR": "sh \(path)"]
    }

    func edit(_ name: String, _ script: String, _ flags: [String] = []) throws -> Command {
        try Command(
            Self.programs + "/contactbook", ["edit", name] + flags, in: self,
            environment: try editor(script).merging(["CONTACTBOOK": Self.programs + "/contactbook"]) { $1 })
    }
}
