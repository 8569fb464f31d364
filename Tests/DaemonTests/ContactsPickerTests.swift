import BrokerJSON
import Testing

/// Tests what the picker of the Contacts library tells the app's delegate.
@Suite("The picker of the Contacts library and its delegate")
struct ContactsPickerTests {
    private static let probe = DaemonFixture.programs + "/ContactsProbe"

    /// Runs the probe, and answers its picker with the contacts or values of the person of this name.
    private func pick(
        _ word: String, _ name: String, value: String = #","key":"identifier""#, after choice: Choice? = nil
    ) throws -> Command {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        if let choice { _ = try Command(Self.probe, ["request"], in: fixture) { try person.answer(choice) } }
        let command = try Command(Self.probe, [word], in: fixture) {
            let prompt = try person.prompt()
            let row = try #require(person.search(prompt, name).first).identifier
            #expect(try person.answer(prompt, #""picked":[{"contact":"\#(row)"\#(value)}]"#).error == nil)
        }
        #expect(command.end == .exited(0), "\(command.errors)")
        return command
    }

    @Test("A value from a card in a picker of contacts is not a cancellation, and the main actor is free meanwhile")
    func cards() throws {
        let email = #","key":"emailAddresses","value":"1""#
        let value = try pick("pick-card", "ada", value: email).output
        #expect(value == "meanwhile\nvalue ada@example.org\n", "\(value)")
        let contact = try pick("pick-card", "grace").output
        #expect(contact == "meanwhile\ncontact Grace\n", "\(contact)")
    }

    @Test("A delegate with only the method for several contacts gets one contact too, and the library says so")
    func substitute() throws {
        let picked = try pick("pick-contacts", "grace", after: .everything)
        #expect(picked.output == "found Grace\n")
        #expect(
            picked.errors == """
                CNContactPickerViewController: predicateForSelectionOfProperty has no effect, because the person picks \
                whole contacts; set selection to .property, or set predicateForSelectionOfContact
                CNContactPickerViewController: PickedSeveral does not implement the method for one contact, so another \
                one is called; set selection and allowsMultipleSelection to what the delegate implements

                """)
    }

    @Test(
        "A picker with a limit and with keys that a contact must have gets at most that many contacts, all with the keys"
    )
    func limit() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(adding: DaemonFixture.people + [Self.annie], with: person)
        let command = try Command(Self.probe, ["pick-two"], in: fixture) {
            let prompt = try person.prompt()
            let rows = try person.search(prompt)
            func pick(_ names: String...) throws -> String? {
                let picked = names.map { name in
                    let identifier = rows.first { $0.name == name }?.identifier ?? "no row"
                    return #"{"contact":"\#(identifier)","key":"identifier"}"#
                }
                return try person.answer(prompt, #""picked":[\#(picked.joined(separator: ","))]"#).error
            }
            #expect(try pick("Ada Lovelace", "Grace Hopper", "Annie Easley") == "InvalidAnswer")
            // Lin has no e-mail address.
            #expect(try pick("Ada Lovelace", "Lin Lanying") == "InvalidAnswer")
            #expect(try pick("Ada Lovelace", "Annie Easley") == nil)
        }
        #expect(command.end == .exited(0), "\(command.errors)")
        #expect(command.output == "[\"Ada\", \"Annie\"]\nerror 500 [] 0\n")
    }

    @Test("A delegate without a method for what the person picked is told that nothing was picked, once")
    func unreceivable() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let command = try Command(Self.probe, ["pick-unreceivable"], in: fixture) {
            for names in [["ada"], ["ada", "grace"]] {
                let prompt = try person.prompt()
                let rows = try names.map { try #require(person.search(prompt, $0).first).identifier }
                let picked = rows.map { #"{"contact":"\#($0)","key":"identifier"}"# }.joined(separator: ",")
                #expect(try person.answer(prompt, #""picked":[\#(picked)]"#).error == nil)
            }
        }
        #expect(command.output == "nothing\nnothing\n")
        #expect(command.errors.split(separator: "told that the person picked nothing").count == 3)
    }

    @Test("A picked value comes with the contact's name")
    func named() throws {
        let email = #","key":"emailAddresses","value":"1""#
        #expect(try pick("pick-number", "ada", value: email).output == "Ada Lovelace emailAddresses\n")
    }

    @Test("The example of the access button, the access picker and the one-time picker")
    func example() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        func run(_ arguments: [String], _ name: String, _ fields: (_ row: String) -> String) throws -> String {
            let command = try Command(DaemonFixture.programs + "/Pickers", arguments, in: fixture) {
                let prompt = try person.prompt()
                #expect(prompt["purpose"]?.string == "to invite them")
                let row = try #require(person.search(prompt, name).first).identifier
                #expect(try person.answer(prompt, fields(row)).error == nil)
            }
            #expect(command.end == .exited(0), "\(command.errors)")
            return command.output
        }
        func share(_ row: String) -> String { #""level":"limited","identifiers":["\#(row)"]"# }
        #expect(try run(["button", "ada"], "ada", share) == "shared: Ada Lovelace\n")
        #expect(try run(["access"], "grace", share) == "shared: Grace Hopper\n")
        let picked = try run(["once"], "ada") {
            #""picked":[{"contact":"\#($0)","key":"emailAddresses","value":"1"}]"#
        }
        #expect(picked == "picked: Ada Lovelace ada@example.org\n")
    }

    private static let annie =
        #""givenName":"Annie","familyName":"Easley","emailAddresses":[{"value":"annie@example.org"}]"#

    @Test("A limited app's store finds no contact by a picked identifier, even if the contact is shared")
    func identifiers() throws {
        for name in ["ada", "grace"] {
            #expect(try pick("pick-contacts", name, after: .only(["Ada Lovelace"])).output == "error 200 [] 1\n")
        }
    }
}
