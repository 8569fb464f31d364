import BrokerAccessControl
import Glibc
import Testing

@Suite("The broker compared with a model of what each app may see")
struct ModelTests {
    /// Seeds that are always tried. `CONTACTBROKER_MODEL_SEEDS=7,10...20` replaces them, and
    /// `CONTACTBROKER_MODEL_STEPS` sets the length of the runs.
    static let known: Set<UInt64> = [8, 11, 15, 22, 63, 78]
    /// Runs with all kinds of links and of members of groups, because the person gives much.
    static let rich: Set<UInt64> = [63, 78]
    /// Runs in which prompts of saves have every outcome.
    static let asking: Set<UInt64> = [15]
    static var seeds: [UInt64] {
        if let given = getenv("CONTACTBROKER_MODEL_SEEDS") {
            let seeds = String(cString: given).split(separator: ",").flatMap { part -> [UInt64] in
                let ends = part.split(separator: ".").compactMap { UInt64($0) }
                guard let first = ends.first, let last = ends.last, first <= last else { return [] }
                return Array(first...last)
            }
            if !seeds.isEmpty { return seeds }
        }
        return known.sorted()
    }

    static var stepCount: Int {
        getenv("CONTACTBROKER_MODEL_STEPS").flatMap { Int(String(cString: $0)) } ?? 600
    }

    @Test("After every step each app sees what the model says and nothing else", arguments: seeds)
    func run(seed: UInt64) throws {
        let run = try ModelRun(seed: seed, isGenerous: Self.rich.contains(seed))
        var place = 0
        do {
            while place < Self.stepCount {
                try run.step()
                place += 1
                let wholly = place.isMultiple(of: 25)
                for name in ModelRun.appNames where wholly || run.chance(20) { try run.compare(name, wholly: wholly) }
            }
        } catch {
            let what = (error as? Difference)?.text ?? "\(error)"
            Issue.record(
                """
                After \(place) steps with CONTACTBROKER_MODEL_SEEDS=\(seed):
                \(what)
                The last steps:
                \(run.steps.suffix(40).joined(separator: "\n"))
                Effective access:
                \(run.grantsAndAccess)
                The last lines for the journal:
                \(run.fixture.journal.lines.suffix(5).joined(separator: "\n"))
                """)
            return
        }
        let answers = try run.fixture.audit(.answer)
        #expect(answers.count == run.fixture.acceptedAnswers, "every answer is on record")
        #expect(
            try run.fixture.recordedContacts(.agentSearch) == run.fixture.agentRows,
            "every contact that an agent got is on record")
        // A record also counts the cards of a unified contact, and what was only counted or picked for the app.
        for name in ModelRun.appNames {
            let (recorded, received) = (
                try run.fixture.recordedContacts(.disclosure, app: name), run.fixture.receivedContacts[name] ?? 0
            )
            #expect(recorded >= received, "\(name) received contacts that are not on record")
        }
        #expect(answers.allSatisfy { $0.hasSuffix("by agent (claimed), without a password") }, "with its agent")
        if Self.stepCount >= 500 { expectAllKinds(run, seed) }
    }

    /// A run that never takes a kind of step tests nothing about it.
    private func expectAllKinds(_ run: ModelRun, _ seed: UInt64) {
        var kinds = [
            "save", "access", "button", "manage", "pick", "propose", "lower", "reset", "watch", "time", "restart",
            "policy", "share", "put back save", "put back contact", "put back app", "a contact came back",
            "a conflict", "revisions", "the present revision", "another revision",
        ]
        if Self.asking.contains(seed) {
            kinds += [
                "save allowed once", "save allowed from now on", "save refused", "save not answered", "asks nobody",
                "app left before the answer", "app left after an answer for once",
                "app left after an answer for later",
            ]
        }
        for kind in kinds { #expect(run.counts[kind, default: 0] > 0, "no \(kind) in the run of seed \(seed)") }
        guard Self.rich.contains(seed) else { return }
        #expect(run.model.laterMembers > 0, "no member of a shared group joined in the run of seed \(seed)")
        // The rich runs produce unified contacts and links by evidence.
        #expect(!run.unifiedNames.all.isEmpty, "no unified contact in the run of seed \(seed)")
        #expect(run.linkedByEvidence > 0, "no links by evidence in the run of seed \(seed)")
    }
}
