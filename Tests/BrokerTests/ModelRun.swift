import BrokerAccessControl
import BrokerJSON
import BrokerVarlink
import Glibc
import Testing

@testable import BrokerCore

/// A difference between the broker and the model.
struct Difference: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// One run: the broker and the model side by side, step by step.
final class ModelRun {
    static let appNames = ["mail", "chat", "calendar", "dialer", "sync"]

    /// Other programs can imitate an installed app, but not a sandboxed one.
    static func strength(of name: String) -> IdentityStrength {
        name == "dialer" || name == "sync" ? .sandboxed : .installed
    }

    let fixture: BrokerFixture
    var model: Model
    var numbers: SeededNumbers
    var person: TestPerson?
    private var connections: [String: TestApp] = [:]
    /// The last steps, for the message about a difference.
    private(set) var steps: [String] = []
    /// How often each kind of step was taken.
    private(set) var counts: [String: Int] = [:]
    /// How many saves linked cards by evidence.
    var linkedByEvidence = 0
    var contactNames = IdentifierBook()
    /// For unified contacts, by their first visible cards.
    var unifiedNames = IdentifierBook()
    var groupNames = IdentifierBook()
    var revisions = RevisionBook()
    var watches: [String: ModelWatch] = [:]
    var lastTokens: [String: KnownToken] = [:]
    /// Tokens that apps kept, with what they could see then.
    var tokens: [String: [KeptToken]] = [:]

    struct KnownToken {
        var place: ModelPlace
        var window: Int64
        var text: String
    }

    struct KeptToken {
        let text: String
        let seconds: Int64
        let snapshot: ModelSnapshot
    }

    /// The administrator's rules, by app.
    var rules: [String: ModelRule] = [:]

    /// Whether the person gives much: whole access, every right, and many groups.
    let isGenerous: Bool

    init(seed: UInt64, isGenerous: Bool = false) throws {
        self.isGenerous = isGenerous
        // It must make no difference whether a read runs on the loop.
        fixture = try BrokerFixture(readsOnWorker: seed.isMultiple(of: 3))
        numbers = SeededNumbers(seed: seed)
        model = Model(now: BrokerFixture.start / 1_000_000)
        for name in Self.appNames { model.apps[name] = ModelApp(name) }
        person = try TestPerson(fixture: fixture)
    }

    // MARK: Chance

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &numbers) < percent }
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }
    func one<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &numbers) }
    func some<Element>(_ elements: [Element]) -> [Element] {
        let share = number(0...100)
        return elements.filter { _ in chance(share) }
    }

    // MARK: Messages about a failure

    func note(_ step: String) {
        steps.append(step)
        if steps.count > 60 { steps.removeFirst() }
        counted(step.split(separator: ":").first.map(String.init) ?? step)
    }

    func counted(_ kind: String) { counts[kind, default: 0] += 1 }

    /// The effective access of every app, by the model.
    var grantsAndAccess: String {
        model.apps.values.sorted { $0.name < $1.name }.map { app in
            let decided = app.decided.map { "\($0.level) at \($0.at) until \($0.expires ?? 0)" } ?? "nothing"
            return "\(model.now) \(app.name): \(app.level), decided \(decided), rule \(app.rule.kind), "
                + "\(app.place), sees \(app.set.sorted())"
        }.joined(separator: "\n")
    }

    func require(_ isSo: Bool, _ what: @autoclosure () -> String) throws {
        if !isSo { throw Difference(what()) }
    }

    func requireSame(_ answered: String, _ expected: String, _ what: @autoclosure () -> String) throws {
        guard answered != expected else { return }
        throw Difference("\(what())\n  the broker: \(answered)\n  the model:  \(expected)")
    }

    // MARK: Apps

    func app(_ name: String) -> TestApp {
        if let app = connections[name] { return app }
        let app = connect(name)
        connections[name] = app
        return app
    }

    /// The app ends its connection.
    func hangUp(_ name: String) {
        connections.removeValue(forKey: name)?.hangUp()
    }

    /// Another connection of an app.
    func connect(_ name: String) -> TestApp {
        TestApp(fixture: fixture, caller: fixture.caller(name, strength: Self.strength(of: name)))
    }

    /// Ends the broker and starts it again.
    func restart() throws {
        try fixture.restart()
        connections = [:]
        watches = [:]
        person = nil
        loadPolicy()
    }

    /// Lets time pass for the broker and the model, in whole seconds.
    func advance(by seconds: Int64) throws {
        fixture.loop.advance(by: .seconds(seconds))
        model.advance(to: model.now + seconds)
        try checkWatches()
    }
}

/// The identifiers that apps have for contacts or groups, learned from answers. Each stays the same as long as the
/// app's key does.
struct IdentifierBook {
    struct Meaning: Hashable {
        let key: String
        let number: Int
    }

    private var names: [Meaning: String] = [:]
    private(set) var meanings: [String: Meaning] = [:]
    private(set) var all: [String] = []

    /// - Returns: a description of a contradiction to an earlier answer, or `nil`.
    mutating func learn(_ identifier: String, _ number: Int, _ key: String) -> String? {
        let meaning = Meaning(key: key, number: number)
        if names[meaning] == identifier { return nil }
        if let known = names[meaning] { return "\(number) was \(known) and is \(identifier) for \(key)" }
        if let other = meanings[identifier] { return "\(identifier) of \(key) means \(number), and \(other)" }
        names[meaning] = identifier
        meanings[identifier] = meaning
        all.append(identifier)
        return nil
    }

    func name(_ number: Int, _ key: String) -> String? { names[Meaning(key: key, number: number)] }

    func number(_ identifier: String, _ key: String) -> Int? {
        meanings[identifier].flatMap { $0.key == key ? $0.number : nil }
    }
}
