import Testing

@Suite("Output of contactctl and contactbook")
struct CommandOutputTests {
    private func contactctl(_ arguments: String..., in fixture: DaemonFixture) throws -> Command {
        try Command(DaemonFixture.programs + "/contactctl", arguments, in: fixture)
    }

    @Test("contactctl lists the apps, shows one, revokes its access and resets it")
    func contactctl() throws {
        let fixture = try DaemonFixture()
        #expect(try contactctl("apps", in: fixture).errors == "no app has requested contacts yet\n")
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let mail = try fixture.app("mail", .only(["Ada Lovelace"]), by: person)
        #expect(try mail.fetch().names == ["Ada Lovelace"])

        let apps = try contactctl("apps", in: fixture)
        #expect(apps.end == .exited(0))
        let lines = apps.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(
            lines.dropFirst().map { [$0[0]] + $0[2...6] } == [
                ["keeper", "full", "all", "contacts", "all", "until"],
                ["mail", "limited", "1", "contact", "all", "until"],
            ])
        #expect(try contactctl("apps", "--json", in: fixture).output.contains(#""status":"limited""#))

        let shown = try contactctl("show", "mail", in: fixture)
        #expect(shown.end == .exited(0))
        #expect(shown.words.hasPrefix("mail\npath \(mail.path)\nSHA-256 "))
        #expect(shown.words.contains("sees 1 contact: everything but notes\n"))
        #expect(shown.words.contains("by you\n"))
        #expect(shown.output.contains("disclosure"))

        let revoked = try contactctl("revoke", "mail", in: fixture)
        #expect(revoked.end == .exited(0))
        #expect(revoked.output == "revoked: mail (\(mail.path)) could see 1 contact: everything but notes\n")
        #expect(try mail.fetch().error == "AccessDenied")
        #expect(try contactctl("show", "mail", in: fixture).words.contains("until revoked by you\n"))
        #expect(try contactctl("revoke", "mail", in: fixture).errors == "mail (\(mail.path)) is already denied\n")

        let reset = try contactctl("reset", "mail", in: fixture)
        #expect(reset.output == "reset: mail (\(mail.path)) sees nothing, and may ask again\n")
        #expect(try mail.call("GetAuthorization").word == "notDetermined")
        for command in ["show", "revoke", "reset"] {
            let unknown = try contactctl(command, "mail", in: fixture)
            #expect(unknown.end == .exited(1))
            #expect(unknown.output.isEmpty)
            #expect(unknown.errors.contains("no app matches \"mail\""))
        }
    }

    @Test("contactctl pending lists the apps that wait and what they ask for, but not their purpose")
    func pending() throws {
        let fixture = try DaemonFixture()
        #expect(try contactctl("pending", in: fixture).errors == "no request is waiting\n")
        #expect(try contactctl("pending", "--json", in: fixture).output == #"{"version":1,"prompts":[]}"# + "\n")
        let person = try fixture.person()
        let mail = try fixture.app("mail")
        try mail.begin("RequestAccess", #"{"purpose":"a secret reason"}"#)
        let prompt = try person.prompt()
        let shown = try contactctl("pending", in: fixture)
        #expect(shown.end == .exited(0))
        #expect(shown.words.hasSuffix("\nmail \(mail.path) see contacts shown by an agent unverified\n"))
        #expect(!shown.output.contains("secret"))
        try person.answer(prompt)
        #expect(try mail.reply().error == nil)
        #expect(try contactctl("pending", in: fixture).output.isEmpty)
    }

    @Test("contactctl audit lists the records, verify checks them, and status describes the broker")
    func records() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        #expect(try keeper.fetch().names.count == 4)

        let audit = try contactctl("audit", in: fixture)
        #expect(audit.end == .exited(0))
        let known = ["start", "policy", "joined,", "prompt", "answer", "grant", "save", "disclosure"]
        let events = audit.output.split(separator: "\n").dropFirst().map { line in
            known.first { line.contains(" \($0)") } ?? String(line)
        }
        #expect(events == known)
        #expect(try contactctl("audit", "--limit", "1", in: fixture).output.split(separator: "\n").count == 2)
        #expect(try contactctl("audit", "--app", "keeper", in: fixture).output.split(separator: "\n").count == 6)
        #expect(try contactctl("audit", "--app", "nobody", in: fixture).end == .exited(1))
        #expect(try contactctl("audit", "--since", "yesterday", in: fixture).end != .exited(0))

        let verified = try contactctl("verify", in: fixture)
        #expect(verified.end == .exited(0))
        #expect(verified.output.hasPrefix("8 records are unchanged\nhead "))

        let status = try contactctl("status", "--verbose", in: fixture)
        #expect(status.end == .exited(0))
        #expect(status.output.contains("session"))
        #expect(status.output.contains(fixture.state))
        #expect(try contactctl("status", "--json", in: fixture).output.contains(#""agents":1"#))
    }

    @Test(
        "Without a broker, every command reports it, suggests what to check and exits with 2",
        arguments: [
            ("contactctl", ["apps"]), ("contactctl", ["verify"]), ("contactbook", ["list"]),
            ("contactbook", ["add", "--given", "Ada"]),
        ])
    func noBroker(program: String, arguments: [String]) throws {
        let fixture = try DaemonFixture(starting: false)
        let command = try Command("\(DaemonFixture.programs)/\(program)", arguments, in: fixture)
        #expect(command.end == .exited(2))
        #expect(command.output.isEmpty)
        #expect(command.errors.hasPrefix("\(program): could not "))
        #expect(command.errors.contains("is contactbrokerd running?"))
    }

    @Test("contactbook adds, lists, shows, searches and removes contacts after one prompt")
    func contactbook() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let added = try fixture.contactbook(
            "add", "--given", "Ada", "--family", "Lovelace", "--phone", "mobile:+44 20 7946 0001", "--email",
            "ada@example.org", "--birthday", "1815-12-10"
        ) { try person.answer(.everything) }
        #expect(added.end == .exited(0), "\(added.errors)")
        let lines = added.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "added Ada Lovelace")
        let identifier = try #require(lines.last?.split(separator: " ").last.map(String.init))
        #expect(try fixture.contactbook("add", "--organization", "Analytical Engines Ltd").end == .exited(0))
        #expect(try person.wasNotAsked())

        let list = try fixture.contactbook("list")
        #expect(
            list.output.split(separator: "\n").map { $0.prefix(12) } == [
                "NAME        ", "Analytical E", "Ada Lovelace",
            ])
        #expect(try fixture.contactbook("list", "--json").output.contains(#""birthday":"1815-12-10""#))
        for name in [identifier, "Ada Lovelace", "lov"] {
            let shown = try fixture.contactbook("show", name)
            #expect(shown.end == .exited(0), "\(shown.errors)")
            #expect(shown.output.hasPrefix("Ada Lovelace\n"))
            #expect(shown.words.contains("mobile +44 20 7946 0001\n"))
            #expect(shown.words.contains("birthday 1815-12-10\n"))
        }
        let search = try fixture.contactbook("search", "ada")
        #expect(search.output.contains("ada@example.org"))
        #expect(!search.output.contains("Analytical"))
        #expect(try fixture.contactbook("search", "nobody").end == .exited(1))
        let withoutNote = try fixture.contactbook("show", "--note", "lov") { try person.answer(.dismissed) }
        #expect(withoutNote.errors.contains("contactbook may not see: note"))

        let unasked = try fixture.contactbook("remove", "lov")
        #expect(unasked.end == .exited(2))
        #expect(try fixture.contactbook("remove", "lov", "--yes").output == "removed Ada Lovelace\n")
        #expect(try fixture.contactbook("show", identifier).end == .exited(1))
        #expect(try fixture.contactbook("remove", "lov", "--yes").end == .exited(1))
    }

    @Test("contactbook exits with 1 and says so when its access is denied")
    func refused() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let list = try fixture.contactbook("list") { try person.answer(.refused) }
        #expect(list.end == .exited(1))
        #expect(list.output.isEmpty)
        #expect(
            list.errors.contains(
                "you refused contactbook access to your contacts\nto let it ask again: contactctl reset "),
            "\(list.errors)")
    }

    @Test("contactbook imports vCards and names each card that it cannot import")
    func imports() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let cards = """
            BEGIN:VCARD\r
            VERSION:4.0\r
            FN:Grace Hopper\r
            N:Hopper;Grace;;;\r
            TEL;TYPE=cell:+1 202 555 0100\r
            EMAIL:grace@example.org\r
            END:VCARD\r
            BEGIN:VCARD\r
            VERSION:9.9\r
            FN:Too New\r
            END:VCARD\r
            BEGIN:VCARD\r
            VERSION:3.0\r
            FN:Emmy Noether\r
            N:Noether;Emmy;;;\r
            NOTE:with\\na note\r
            END:VCARD\r

            """
        let path = fixture.folder + "/people.vcf"
        try DaemonFixture.write(Array(cards.utf8), to: path)
        let tried = try fixture.contactbook("import", "--dry-run", path)
        #expect(tried.output == "2 contacts in 1 file can be added\n")
        let imported = try fixture.contactbook("import", path) { try person.answer(.everything) }
        #expect(imported.end == .exited(1))
        #expect(imported.output == "added 2 contacts of 1 file\n")
        #expect(imported.errors.contains("people.vcf:8"))
        #expect(imported.errors.contains("1 contact was not added"))
        let list = try fixture.contactbook("list")
        #expect(
            list.output.split(separator: "\n").dropFirst().map { $0.prefix(12) } == ["Grace Hopper", "Emmy Noether"])
        let absent = try fixture.contactbook("import", fixture.folder + "/absent.vcf")
        #expect(absent.end == .exited(2))
    }
}
