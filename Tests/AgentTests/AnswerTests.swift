import BrokerFormatting
import BrokerModel
import Testing

@testable import contact_agent

@Suite("What an answer gives, and what the screens say about it")
struct AnswerTests {
    @Test(
        "The answer gives the keys that the app asked for, except notes, and the whole card only to an app that names none",
        arguments: [
            (nil, nil, "the whole card except notes"),
            (
                ["givenName", "familyName", "phoneNumbers"], ["givenName", "familyName", "phoneNumbers"],
                "names, phone numbers"
            ),
            (["emailAddresses", "note"], ["emailAddresses"], "e-mail"),
            (["givenName", "groups"], ["givenName", "groups"], "names, groups"),
        ] as [([String]?, [String]?, String)])
    func askedKeys(asked: [String]?, given: [String]?, words: String) throws {
        for (keys, level) in [("a", Answer.Level.full), ("c⇥⏎", .limited)] {
            var driver = try Driver(PromptText(keys: asked))
            driver.press(keys)
            #expect(driver.shows("Gets: \(words)   [k] Change"))
            let identifiers = level == .limited ? ["r1"] : nil
            #expect(
                driver.press("y")
                    == .answer(Answer(level: level, identifiers: identifiers, keys: given, lifetime: .session)))
        }
    }

    @Test("One key turns all keys on, one turns them off, and one leaves names and phone numbers")
    func severalKeys() throws {
        func keys(_ text: PromptText, _ keys: String) throws -> Set<String>? {
            var driver = try Driver(text)
            driver.press("c⇥⏎k")
            guard case .answer(let answer) = driver.press(keys + "⏎y") else { return nil }
            return answer.keys.map(Set.init)
        }
        let whole = Set(GrantedKeys.ordinary.grantNames)
        #expect(try keys(PromptText(keys: ["givenName"]), "a") == whole)
        #expect(try keys(PromptText(keys: ["givenName", "note"]), "a") == whole.union(["note"]))
        #expect(try keys(PromptText(), "n") == nil)
        #expect(try keys(PromptText(), "n↓↓↓ ") == ["phoneNumbers"])
        let names = try #require(try keys(PromptText(keys: ["note"]), "p"))
        #expect(names.contains("familyName") && names.contains("phoneNumbers"))
        #expect(names.isDisjoint(with: ["emailAddresses", "jobTitle", "note"]))
    }

    @Test("On a small screen, the list of keys says which of them it shows")
    func keysPlace() throws {
        var driver = try Driver(PromptText(), on: .minimum)
        driver.press("ak")
        #expect(driver.shows("1–7 of 12"))
    }

    @Test("The first screen says what the app asks to change, and the answer gives it unless the person changes it")
    func askedChanges() throws {
        for (asked, wants, setting) in [
            (nil, nil, "only what it adds itself"), ("own", nil, "only what it adds itself"),
            ("edit", "Wants to change contacts, too.", "also contacts that it sees"),
            ("all", "Wants to change and delete contacts, too.", "all that it sees; also deletes it"),
        ] as [(String?, String?, String)] {
            var text = PromptText()
            text.changes = asked
            for (keys, level) in [("a", Answer.Level.full), ("c⇥⏎", .limited)] {
                var driver = try Driver(text)
                #expect(driver.shows("Wants to") == (wants != nil))
                if let wants { #expect(driver.shows(wants)) }
                driver.press(keys)
                #expect(driver.shows("Changes: \(setting)   [w] Change"))
                let identifiers = level == .limited ? ["r1"] : nil
                #expect(
                    driver.press("y")
                        == .answer(
                            Answer(
                                level: level, identifiers: identifiers, changes: asked.flatMap(ChangeRight.init),
                                lifetime: .session)))
            }
        }
    }

    @Test("One key changes what the app may change, within the policy")
    func changes() throws {
        func answer(_ keys: String, most: String? = nil) throws -> ChangeRight? {
            var text = PromptText()
            text.maximumChanges = most
            var driver = try Driver(text)
            guard case .answer(let answer) = driver.press("a" + keys + "y") else { return nil }
            return answer.changes
        }
        #expect(try answer("") == nil)
        #expect(try answer("w") == .edit)
        #expect(try answer("ww") == .all)
        #expect(try answer("www") == ChangeRight.none)
        #expect(try answer("wwww") == nil)
        #expect(try answer("w", most: "own") == ChangeRight.none)
        var text = PromptText()
        text.maximumChanges = "none"
        var driver = try Driver(text)
        driver.press("a")
        #expect(!driver.shows("[w]"))
    }

    @Test("Every later screen that gives contacts to an app says whether it may also change or delete them")
    func rights() throws {
        for (right, keys, one, several) in [
            ("all", nil, "It can also change and delete it.", "It can also change and delete them."),
            ("all", ["givenName"], "It can also change what it gets.", "It can also change what it gets."),
            ("edit", nil, "It can also change what it gets.", "It can also change what it gets."),
            ("own", nil, "", ""), ("none", nil, "", ""),
        ] as [(String, [String]?, String, String)] {
            var text = PromptText(
                kind: "button", status: "limited", query: "p", grantedKeys: keys ?? GrantedKeys.ordinary.grantNames)
            text.grantedChanges = right
            var button = try Driver(text)
            button.total = 1
            button.begin()
            #expect(one.isEmpty ? !button.shows("It can also") : button.shows(one), "\(right)")
            text.kind = "manage"
            var manage = try Driver(text)
            manage.press("c⇥⏎")
            #expect(one.isEmpty ? !manage.shows("It can also") : manage.shows(one), "\(right)")
            manage.press("b←a")
            #expect(several.isEmpty ? !manage.shows("It can also") : manage.shows(several), "\(right)")
            #expect(manage.shows("Gets: ") && manage.shows("Lasts: until you revoke it"))
        }
    }

    @Test("In a review the person chooses what the app may change, and going back is highlighted")
    func reviewedChanges() throws {
        var text = PromptText(kind: "manage", status: "limited", grantedKeys: GrantedKeys.ordinary.grantNames)
        text.grantedChanges = "edit"
        func answer(_ keys: String) throws -> Effect {
            var driver = try Driver(text)
            driver.press("w")
            #expect(driver.shows("What may “mail” change?") && driver.shows("Changes: also contacts that it sees"))
            return driver.press(keys)
        }
        #expect(try answer("1") == .answer(Answer(level: .limited, changes: ChangeRight.none)))
        #expect(try answer("2") == .answer(Answer(level: .limited, changes: .own)))
        #expect(try answer("3") == .answer(Answer(level: .limited, changes: .all)))
        #expect(try answer("⏎") == .nothing)
        let words = ManageDialogue.words(for: Answer(level: .limited, changes: .own), "“mail”", .inEnglish)
        #expect(words == "“mail” may now change: only what it adds itself")
    }

    @Test("With an empty address book no key leads to an empty list, and the screen says so")
    func emptyBook() throws {
        let empty = "Your address book is empty."
        for kind in ["access", "button", "manage", "pick", "propose"] {
            var driver = try Driver(
                PromptText(
                    kind: kind, status: kind == "manage" ? "denied" : "notDetermined", query: "p",
                    proposed: ProposeTests.card, totalContacts: 0))
            driver.total = 0
            driver.begin()
            #expect(kind == "propose" || driver.shows(empty), "\(kind)")
            driver.press(kind == "propose" ? "co" : "c")
            #expect(!driver.shows("No matches") || kind == "button", "\(kind)")
        }
        var access = try Driver(PromptText(totalContacts: 0))
        #expect(access.shows("[a] Allow all: it can add contacts and see them…"))
        #expect(access.press("⏎") == .nothing)
        #expect(access.press("y") == .answer(Answer(level: .full, lifetime: .session)))
    }

    @Test("The hint of Escape says how long a refusal lasts")
    func refusalHint() throws {
        func hint(_ lifetimes: [String]) throws -> String? {
            try Driver(PromptText(lifetimes: lifetimes)).screen.hints.first { $0.key == "Esc" }?.words
        }
        #expect(try hint(["session", "untilRevoked"]) == "Not now (this terminal session)")
        #expect(try hint(["process", "session"]) == "Not now (this process)")
        #expect(try hint(["untilRevoked"]) == "Don't allow")
    }

    @Test("A long purpose is shown in full on a large screen, each line in quotation marks")
    func longPurpose() throws {
        let purpose = (1...24).map { "word\($0)" }.joined(separator: " ")
        let small = try Driver(PromptText(purpose: purpose), on: .minimum)
        #expect(small.shows("It says: “word1 ") && small.shows("…”") && !small.shows("word20"))
        let large = try Driver(PromptText(purpose: purpose))
        let lines = large.lines.map(\.text).filter { $0.contains("word") }
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains("“word") && $0.hasSuffix("”") })
        #expect(large.shows("word24”"))
    }
}
