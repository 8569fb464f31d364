import BrokerFormatting
import BrokerModel
import Testing

@testable import contact_agent

@Suite("How many keys a task takes")
struct KeyCountTests {
    /// A task at a prompt, with its keys as ``Driver/key(_:)`` reads them.
    struct Task: Sendable, CustomTestStringConvertible {
        let name: String
        let prompt: PromptText
        let keys: String
        /// The most keys, with those that open a review on the main screen.
        let most: Int
        let testDescription: String

        init(_ name: String, _ prompt: PromptText, _ keys: String, most: Int) {
            self.name = name
            self.prompt = prompt
            self.keys = keys
            self.most = most
            testDescription = name
        }
    }

    private static let review = PromptText(
        kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
        grantedKeys: GrantedKeys.ordinary.grantNames)

    static let tasks: [Task] = [
        Task("full access", PromptText(), "ay", most: 2),
        Task("full access until it is revoked", PromptText(), "aty", most: 3),
        Task("allow a save", PromptText(kind: "change", status: "limited"), "y", most: 1),
        Task("allow saves from now on", ChangeTests.prompt, "ay", most: 2),
        Task("refuse", PromptText(), "⎋", most: 1),
        Task("the one match of the access button", PromptText(kind: "button", query: "grace"), "sy", most: 2),
        Task("another contact than the app's query", PromptText(kind: "button", query: "zzzz"), "grac⏎y", most: 7),
        Task("one value, once", PromptText(kind: "pick"), "cgrac⏎⏎y", most: 8),
        Task("merge an offered card", PromptText(kind: "propose", proposed: ProposeTests.card), "cm⏎", most: 3),
        Task("take one contact back", review, "⏎c⇥⏎y", most: 6),
        Task("full instead of limited access", review, "⏎ay", most: 3),
        Task("names and phone numbers only", review, "⏎kp⏎y", most: 6),
        Task("another lifetime", review, "⏎t1", most: 3),
        Task("revoke", review, "⏎xy", most: 3),
    ]

    @Test("A task takes no more keys than before", arguments: tasks)
    func bounded(task: Task) throws {
        var driver = try Driver(task.prompt)
        driver.people = AgentScreens.people.map { contact in
            var contact = contact
            if contact.identifier == "r2" { contact.match = "email" }
            return contact
        }
        driver.begin()
        // On the main screen, Return opens the review.
        let effect = driver.press(task.keys.hasPrefix("⏎") ? String(task.keys.dropFirst()) : task.keys)
        guard case .answer = effect else {
            Issue.record("no answer: \(driver.lines.map(\.text).joined(separator: "\n"))")
            return
        }
        #expect(task.keys.count <= task.most)
    }

    /// A small generator with a fixed seed (SplitMix64), so that every run draws the same contacts.
    private struct Draw: RandomNumberGenerator {
        var state: UInt64 = 20_261_128

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    @Test("Three of 10,000 contacts take the letters of their names, three more keys for each, and two at the end")
    func threeOfMany() throws {
        let given = ["Ada", "Saga", "Lin", "Omar", "Uwe", "Grace", "Nora", "Kai", "Linda", "Sara"]
        let family = ["lind", "berg", "man", "qvist", "sson", "ström", "dahl", "gren", "lund", "holm"]
        let begin = ["Al", "An", "Be", "Da", "Ek", "Fo", "Ha", "Li", "No", "Sa"]
        var people: [BrokerStandIn.Contact] = []
        for number in 0..<10_000 {
            people.append(
                .init(
                    identifier: "r\(number)", givenName: given[number % 10],
                    familyName: begin[number / 10 % 10] + family[number / 100 % 10] + " \(number / 1_000)",
                    detail: nil))
        }
        var draw = Draw()
        people.shuffle(using: &draw)
        let wanted = (0..<3).map { _ in people.randomElement(using: &draw) }.compactMap { $0 }
        var driver = try Driver(PromptText(totalContacts: people.count))
        driver.people = people
        driver.press("c")
        for person in wanted {
            var typed = 0
            let before = driver.presses
            for letter in "\(person.givenName) \(person.familyName)".lowercased() {
                if driver.first == person.identifier { break }
                driver.press(String(letter))
                typed += 1
            }
            #expect(driver.first == person.identifier)
            driver.press("⇥")
            #expect(driver.presses - before <= typed + 3)
        }
        let before = driver.presses
        let expected = Answer(level: .limited, identifiers: wanted.map(\.identifier), lifetime: .session)
        #expect(driver.press("⏎y") == .answer(expected))
        #expect(driver.presses - before == 2)
    }
}

extension Driver {
    /// The identifier of the first row of an access prompt's list.
    fileprivate var first: String? { (screen.dialogue as? AccessDialogue)?.finder.list.rows.first?.identifier }
}
