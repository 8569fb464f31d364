import BrokerJSON
import BrokerModel
import Glibc
import PseudoTerminal
import Testing

@Suite("Managing an address book with contactbook")
struct KeepingTests {
    private static let ada = """
        BEGIN:VCARD\r
        VERSION:4.0\r
        UID:ada-1\r
        N:Lovelace;Ada;;;\r
        FN:Ada Lovelace\r
        TEL;TYPE=cell:+44 20 7946 0001\r
        EMAIL;TYPE=home:ada@example.org\r
        NOTE:first programmer\r
        BDAY:18151210\r
        PHOTO:data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAC\r
        END:VCARD\r

        """

    @Test("If contactbook may change nothing, each command says where the person can allow it, and changes nothing")
    func mayChangeNothing() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("add", "--given", "Ada", "--family", "Lovelace")
        let before = try fixture.book()
        let person = try fixture.person()
        func allow(_ right: String) throws -> Command {
            try Command(
                DaemonFixture.programs + "/contactctl", ["set", "contactbook", "--changes", right], in: fixture)
        }
        let lowered = try allow("none")
        #expect(lowered.output.hasSuffix("it may change nothing\n"), "\(lowered.errors)")
        for arguments in [
            ["add", "--given", "Eve"], ["remove", "--yes", "ada"], ["groups", "create", "Friends"],
        ] {
            // After two refusals it must wait, and is refused at once.
            let refused = try Command(DaemonFixture.programs + "/contactbook", arguments, in: fixture) {
                if arguments[0] != "groups" { try person.answer(.dismissed) }
            }
            #expect(refused.end == .exited(1), "\(arguments)")
            #expect(
                refused.errors.contains("contactbook may not change that\nallow it in contact-agent"),
                "\(arguments): \(refused.errors)")
        }
        #expect(try fixture.book() == before)
        let raised = try allow("all")
        #expect(raised.end != .exited(0) && raised.errors.contains("only the person can let an app change more"))
    }

    @Test("What contactbook may not change, it changes once the person has seen and allowed it")
    func allowedOnce() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("add", "--given", "Ada", "--family", "Lovelace")
        _ = try Command(
            DaemonFixture.programs + "/contactctl", ["set", "contactbook", "--changes", "none"], in: fixture)
        let person = try fixture.person()
        let removed = try fixture.contactbook("remove", "--yes", "ada") {
            let prompt = try person.prompt()
            #expect(prompt["kind"]?.string == "change" && prompt["changes"]?.string == "own")
            #expect(try person.search(prompt).map(\.name) == ["Ada Lovelace"])
            #expect(try person.answer(prompt, #""allow":"once""#).error == nil)
        }
        #expect(removed.output == "removed Ada Lovelace\n", "\(removed.errors)")
        #expect(try fixture.book().isEmpty)
    }

    @Test("Undo restores a removed contact with its note, photo, groups and links")
    func removing() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("ada.vcf", Self.ada))
        _ = try fixture.contactbook("add", "--given", "Countess", "--family", "Lovelace", "--email", "c@example.org")
        #expect(try fixture.contactbook("groups", "create", "Friends").output == "made Friends\n")
        #expect(try fixture.contactbook("groups", "add", "friends", "ada").output == "Ada Lovelace: in Friends now\n")
        let before = try fixture.book()
        #expect(try fixture.contactbook("remove", "--yes", "ada").output == "removed Ada Lovelace\n")
        #expect(try fixture.contactbook("groups").words == "GROUP CONTACTS WITHIN\nFriends 0\n")
        #expect(try fixture.book().count == 1)
        let undone = try fixture.contactbook("undo")
        #expect(
            undone.output == "undone: remove Ada Lovelace, just now (1 contact brought back, 1 other change undone)\n",
            "\(undone.errors)")
        #expect(try fixture.book() == before)
        #expect(try fixture.contactbook("groups").words == "GROUP CONTACTS WITHIN\nFriends 1\n")

        // The restored contact is in its group again, so the earlier step can be undone too.
        #expect(try fixture.contactbook("undo").output.hasPrefix("undone: groups add friends ada"))
        #expect(try fixture.contactbook("groups").words == "GROUP CONTACTS WITHIN\nFriends 0\n")

        #expect(
            try fixture.contactbook("link", "ada", "countess").output == "linked Ada Lovelace and Countess Lovelace\n")
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 2)
        #expect(try fixture.contactbook("show", "--cards", "ada").output.contains("Countess Lovelace"))
        _ = try fixture.contactbook("remove", "--yes", "ada")
        #expect(try fixture.contactbook("list").output.isEmpty)
        #expect(try fixture.contactbook("undo").end == .exited(0))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 2)
        #expect(try fixture.contactbook("unlink", "ada").output.hasSuffix("is 2 contacts now\n"))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 3)
        #expect(try fixture.contactbook("undo").end == .exited(0))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 2)
    }

    @Test("Undo brings back what contactbook may not see, and a removal says before whether it can be undone")
    func withoutNotes() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keys = ContactKeySet.all.subtracting(.named).subtracting(ContactKeySet([.birthday, .imageData]))
        _ = try fixture.contactbook("add", "--given", "Ada", "--birthday", "1815-12-10", "--note", "hers") {
            try person.answer(
                try person.prompt(),
                #""level":"full","lifetime":"untilRevoked","changes":"all","keys":\#(quoted(keys.grantNames))"#)
        }
        let asked = try fixture.contactbook("remove", "ada")
        #expect(asked.end == .exited(2), "\(asked.errors)")
        #expect(asked.errors.hasPrefix("to bring it back, within 30 days: contactbook undo\n"), "\(asked.errors)")
        let removed = try fixture.contactbook("remove", "--yes", "ada")
        #expect(removed.end == .exited(0) && removed.errors.isEmpty, "\(removed.errors)")
        #expect(try fixture.contactbook("undo").end == .exited(0))
        let reset = try Command(DaemonFixture.programs + "/contactctl", ["reset", "contactbook"], in: fixture)
        #expect(reset.end == .exited(0), "\(reset.errors)")
        try fixture.allowContactbook(by: person)
        let shown = try fixture.contactbook("show", "--note", "ada").output
        #expect(shown.contains("1815") && shown.contains("hers"), "\(shown)")
        // A program that was reset is another one, and has nothing to undo.
        #expect(try fixture.contactbook("undo").errors.contains("there is nothing to undo"))
    }

    @Test("Undo reports a contact that has changed since and keeps it, unless --force is given")
    func conflicts() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("ada.vcf", Self.ada))
        _ = try fixture.edit("ada", "sed -i 's/ada@example.org/ada@new.example/' \"$1\"")
        let left = try fixture.contactbook("undo", "2")
        #expect(left.end == .exited(1) && left.errors.contains("Ada Lovelace: changed since; stays"), "\(left.errors)")
        #expect(try fixture.contactbook("search", "ada").end == .exited(0))
        #expect(try fixture.contactbook("undo", "--force", "2").end == .exited(0))
        #expect(try fixture.contactbook("search", "ada").end == .exited(1))
        // A forced undo is recorded too, so it can be undone.
        #expect(try fixture.contactbook("undo", "1").end == .exited(0))
        #expect(try fixture.contactbook("search", "ada").output.contains("ada@new.example"))
    }

    @Test("edit saves only the changed fields, and undo restores them")
    func editing() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("ada.vcf", Self.ada))
        let before = try fixture.book()
        let same = try fixture.edit("ada", "exit 0")
        #expect(same.output == "Ada Lovelace stays as it was\n", "\(same.errors)")
        let edited = try fixture.edit(
            "ada", "sed -i -e 's/mobile: .*/boat: 112/' -e 's/^Note:.*/Note: new/' \"$1\"", ["--note"])
        #expect(edited.output == "changed Ada Lovelace: Phone, Note\n", "\(edited.errors)")
        let shown = try fixture.contactbook("show", "--note", "ada").words
        #expect(shown.contains("boat 112") && shown.contains("note new") && shown.contains("home ada@example.org"))
        #expect(
            try fixture.contactbook("undo").output == "undone: edit Ada Lovelace, just now (1 contact changed back)\n")
        #expect(try fixture.book() == before)
        for script in [
            ": > \"$1\"", "exit 1", "printf 'Colour: blue\\n' >> \"$1\"",
            "sed -i 's/^Birthday.*/Birthday: soon/' \"$1\"",
        ] {
            let refused = try fixture.edit("ada", script)
            #expect(refused.end != .exited(0), "\(script)")
            #expect(try fixture.book() == before)
        }
        #expect(
            try fixture.edit("ada", "printf 'Colour: blue\\n' >> \"$1\"").errors.contains(
                "there is no field called Colour here"))
        #expect(try fixture.edit("ada", "mkfifo x; rm \"$1\"; ln -s /dev/zero \"$1\"").end == .exited(2))
    }

    @Test("edit does not overwrite a change made meanwhile, and keeps the typed text")
    func overtaken() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("ada.vcf", Self.ada))
        let other = try fixture.file("other", "#!/bin/sh\nsed -i 's/0001/7777/' \"$1\"\n")
        let script = "EDITOR='sh \(other)' $CONTACTBOOK edit ada >/dev/null; sed -i 's/0001/8888/' \"$1\""
        let refused = try fixture.edit("ada", script)
        #expect(
            refused.end == .exited(1) && refused.errors.contains("changed while you edited it"), "\(refused.errors)")
        #expect(try fixture.contactbook("show", "ada").output.contains("7777"))
        let kept = try #require(refused.errors.split(separator: " ").last).filter { $0 != "\n" }
        #expect(DaemonFixture.text(of: kept).contains("8888"))
        unlink(kept)
        rmdir(String(kept.dropLast("/contact.txt".count)))
        // A change to another field is not a conflict.
        let both = "EDITOR='sh \(other)' $CONTACTBOOK edit ada; sed -i 's/^Nickname:.*/Nickname: Countess/' \"$1\""
        _ = try fixture.edit("ada", "sed -i 's/7777/0001/' \"$1\"")
        #expect(try fixture.edit("ada", both).output.hasSuffix("changed Ada Lovelace: Nickname\n"))
        let shown = try fixture.contactbook("show", "ada").output
        #expect(shown.contains("7777") && shown.contains("Countess"))
    }

    @Test("Groups are created, renamed, nested and deleted, never within themselves; each step can be undone")
    func groups() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("add", "--given", "Ada")
        for name in ["Family", "Cousins"] {
            #expect(try fixture.contactbook("groups", "create", name).end == .exited(0))
        }
        #expect(try fixture.contactbook("groups", "create", "Family").end == .exited(1))
        #expect(try fixture.contactbook("groups", "nest", "Cousins", "Family").end == .exited(0))
        let cycle = try fixture.contactbook("groups", "nest", "Family", "Cousins")
        #expect(cycle.end == .exited(1) && cycle.errors.contains("a group cannot be within itself"), "\(cycle.errors)")
        #expect(
            try fixture.contactbook("groups", "nest", "Family", "Family").errors.contains(
                "a group cannot be within itself"))
        _ = try fixture.contactbook("groups", "add", "Cousins", "ada")
        #expect(try fixture.contactbook("groups", "rename", "Cousins", "Kin").output == "Cousins is called Kin now\n")
        let all = try fixture.contactbook("groups").words
        #expect(all == "GROUP CONTACTS WITHIN\nFamily 0\nKin 1 Family\n")
        #expect(try fixture.contactbook("groups", "delete", "kin").output == "deleted Kin; its contacts stay\n")
        #expect(try fixture.contactbook("undo").end == .exited(0))
        #expect(try fixture.contactbook("groups").words == all)
        #expect(try fixture.contactbook("groups", "remove", "Kin", "ada").end == .exited(0))
        #expect(try fixture.contactbook("groups", "remove", "Kin", "ada").end == .exited(1))
        #expect(try fixture.contactbook("groups", "unnest", "Kin", "Family").end == .exited(0))
        #expect(try fixture.contactbook("undo").end == .exited(0))
        #expect(try fixture.contactbook("undo").end == .exited(0))
        #expect(try fixture.contactbook("groups").words == all)
        #expect(
            try fixture.contactbook("groups", "create", String(repeating: "x", count: 1_025)).errors.contains(
                "more than 1024 for name"))
        #expect(try fixture.contactbook("groups", "show", "nobody").end == .exited(1))
    }

    @Test("query answers in mutt's format, by name and by part of an address")
    func query() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("ada.vcf", Self.ada))
        _ = try fixture.contactbook(
            "add", "--organization", "Souq", "--email", "tea@souq.example", "--email", "x@souq.example")
        #expect(try fixture.contactbook("query", "lov").output == "1 address\nada@example.org\tAda Lovelace\t\n")
        #expect(try fixture.contactbook("query", "tea@").output == "1 address\ntea@souq.example\tSouq\tSouq\n")
        let none = try fixture.contactbook("query", "nobody")
        #expect(none.output == "0 addresses\n" && none.end == .exited(1))
    }

    @Test("birthdays lists birthdays by their next date")
    func birthdays() throws {
        let fixture = try DaemonFixture.withContactbook()
        #expect(try fixture.contactbook("birthdays").end == .exited(1))
        var seconds = time(nil) + 86_400
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
        _ = try fixture.contactbook("add", "--given", "Tomorrow", "--birthday=--\(day)")
        _ = try fixture.contactbook("add", "--given", "Leap", "--birthday", "2000-02-29")
        let all = try fixture.contactbook("birthdays").words.split(separator: "\n")
        #expect(all.count == 3 && all[1].hasSuffix(" Tomorrow") || day.hasPrefix("02-2"))
        // Midnight may pass during the test.
        #expect(try fixture.contactbook("birthdays", "--days", "1").words.contains("\(day) "))
        #expect(try fixture.contactbook("birthdays", "--days", "500").end == .exited(2))
    }

    @Test("On a terminal, import shows a duplicate next to the existing contact, and one key decides")
    func asking() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("ada.vcf", Self.ada))
        let csv = try fixture.file(
            "x.csv",
            "First Name,Last Name,E-mail Address,Home Phone\nAda,Lovelace,ada@example.org,201 555 0112\nAda,Lovelace,ada@example.org,201 555 0113\n"
        )
        let terminal = try PseudoTerminal(
            DaemonFixture.programs + "/contactbook", arguments: ["import", csv],
            environment: [
                "TERM": "xterm", "CONTACTBROKER_RUNTIME_DIR": fixture.runtime, "PATH": "/usr/bin:/bin",
                "XDG_STATE_HOME": fixture.folder + "/own-state",
            ], columns: 120)
        try terminal.wait(for: "Ada Lovelace seems to be there already: the same name and a common e-mail address.")
        try terminal.wait(for: "IN THE FILE")
        try terminal.see("all that follow:", thenPress: "m")
        // Wait for the second question, because keys that are typed before it appears do not count as its answer.
        try terminal.wait(for: "the second question") { screen in
            let question = screen.text.split(separator: "\n").last { $0.contains("all that follow:") }
            return screen.contains("555 0113") && question?.last { $0 != " " } == ":"
        }
        terminal.send("q")
        try terminal.wait(for: "stopped; what follows is not added")
        try terminal.wait(for: "added 0 contacts of 1 file; 1 merged into what was there")
        #expect(try terminal.waitForExit() == .exited(0))
        let shown = try fixture.contactbook("show", "ada").output
        #expect(shown.contains("555 0112") && !shown.contains("555 0113"))
    }

    @Test("Names are in the person's display order, at the agent too")
    func displayOrder() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        try fixture.allowContactbook(by: person)
        #expect(try fixture.contactbook("list").output.contains("Ada Lovelace"))
        #expect(try keeper.call("SetUserDefaults", #"{"displayOrder":"familyName"}"#).error == nil)
        #expect(try fixture.contactbook("list").output.contains("Lovelace Ada"))
        #expect(try fixture.contactbook("show", "ada").output.hasPrefix("Lovelace Ada\n"))
        try fixture.app("mail").begin("RequestAccess")
        #expect(try person.prompt()["displayOrder"]?.string == "familyName")
    }
}
