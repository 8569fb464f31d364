import BrokerCardText
import Testing

@Suite("Merging a card that a client wrote")
struct CardMergeTests {
    /// A merge of content lines, and what it must give.
    struct Case: Sendable, CustomTestStringConvertible {
        let title: String
        let base: [String]?
        let mine: [String]
        let theirs: [String]
        let merged: [String]
        var changed: [String] = []
        var conflicts: [String] = []
        var testDescription: String { title }
    }

    static let cases = [
        Case(
            title: "a value that the client removed", base: ["TEL:1", "TEL:2"], mine: ["TEL:2"],
            theirs: ["TEL:1", "TEL:2"],
            merged: ["TEL:2"], changed: ["TEL"]),
        Case(title: "a value that both removed", base: ["TEL:1"], mine: [], theirs: [], merged: []),
        Case(
            title: "a value that the client removed and others changed", base: ["TEL:1"], mine: [], theirs: ["TEL:3"],
            merged: ["TEL:3"]),
        Case(
            title: "a value that the client added", base: [], mine: ["TEL:1"], theirs: ["FN:x"],
            merged: ["FN:x", "TEL:1"],
            changed: ["TEL"]),
        Case(title: "a value that both added", base: [], mine: ["tel:1"], theirs: ["TEL:1"], merged: ["TEL:1"]),
        Case(title: "a value that others removed", base: ["TEL:1"], mine: ["TEL:1"], theirs: [], merged: []),
        Case(title: "a value that others added", base: [], mine: [], theirs: ["TEL:1"], merged: ["TEL:1"]),
        Case(
            title: "a value that the client edited stays in its place", base: ["TEL:1", "TEL:2", "TEL:3"],
            mine: ["TEL:3", "TEL:9", "TEL:1"], theirs: ["TEL:1", "TEL:2", "FN:x", "TEL:3"],
            merged: ["TEL:1", "TEL:9", "FN:x", "TEL:3"], changed: ["TEL"]),
        Case(
            title: "both edited one of several", base: ["TEL:1"], mine: ["TEL:2"], theirs: ["TEL:3"],
            merged: ["TEL:3", "TEL:2"], changed: ["TEL"]),
        Case(
            title: "one of two equal values", base: ["TEL:1", "TEL:1"], mine: ["TEL:1"], theirs: ["TEL:1", "TEL:1"],
            merged: ["TEL:1"], changed: ["TEL"]),
        Case(
            title: "a label", base: ["a.TEL:1", "a.X-ABLabel:Boat"], mine: ["B.TEL:1", "B.X-ABLABEL:Yacht"],
            theirs: ["a.X-ABLabel:Boat", "a.TEL:1", "FN:x"], merged: ["a.TEL:1", "a.X-ABLABEL:Yacht", "FN:x"],
            changed: ["TEL"]),
        Case(
            title: "a number whose label the client leaves behind", base: ["a.TEL:1", "a.X-ABLabel:Boat"],
            mine: ["A.X-ABLABEL:Boat"], theirs: ["a.TEL:1", "a.X-ABLabel:Boat"], merged: [], changed: ["TEL"]),
        Case(
            title: "a single property that the client changed", base: ["NOTE:a"], mine: ["NOTE:b"],
            theirs: ["NOTE:a", "FN:x"], merged: ["NOTE:b", "FN:x"], changed: ["NOTE"]),
        Case(
            title: "a single property that others changed", base: ["NOTE:a"], mine: ["NOTE:a"], theirs: ["NOTE:b"],
            merged: ["NOTE:b"]),
        Case(
            title: "a single property that both changed", base: ["NOTE:a"], mine: ["NOTE:b"], theirs: ["NOTE:c"],
            merged: ["NOTE:b"], changed: ["NOTE"], conflicts: ["NOTE"]),
        Case(
            title: "a single property that both changed alike", base: ["BDAY:19900101"], mine: ["BDAY:19900102"],
            theirs: ["BDAY:1990-01-02"], merged: ["BDAY:1990-01-02"]),
        Case(
            title: "a single property that the client removed and others changed", base: ["NOTE:a"], mine: [],
            theirs: ["NOTE:b"], merged: ["NOTE:b"], conflicts: ["NOTE"]),
        Case(
            title: "a single property that the client changed and others removed", base: ["NOTE:a"], mine: ["NOTE:b"],
            theirs: [], merged: ["NOTE:b"], changed: ["NOTE"], conflicts: ["NOTE"]),
        Case(
            title: "several notes are values", base: ["NOTE:a", "NOTE:b"], mine: ["NOTE:a", "NOTE:c"],
            theirs: ["NOTE:d", "NOTE:b"], merged: ["NOTE:d", "NOTE:c"], changed: ["NOTE"]),
        Case(
            title: "alternatives of a name are one value", base: ["N;ALTID=1:a", "N;ALTID=1:b"],
            mine: ["N;ALTID=1:c", "N;ALTID=1:b"], theirs: ["N;ALTID=1:a", "N;ALTID=1:d"],
            merged: ["N;ALTID=1:c", "N;ALTID=1:b"], changed: ["N"], conflicts: ["N"]),
        Case(
            title: "without a base nothing is deleted", base: nil, mine: ["TEL:1", "NOTE:a"],
            theirs: ["TEL:2", "NOTE:b", "TITLE:x"], merged: ["TEL:2", "TEL:1", "NOTE:a", "TITLE:x"],
            changed: ["TEL", "NOTE"], conflicts: ["NOTE"]),
    ]

    @Test("Each change is merged", arguments: cases)
    func rules(_ each: Case) throws {
        let base = try each.base.map { try card($0) }
        let merged = try CardText.merge(base: base, mine: try card(each.mine), theirs: try card(each.theirs))
        #expect(merged.text.content == each.merged)
        #expect(merged.changed == each.changed)
        #expect(merged.conflicts == each.conflicts)
    }

    @Test("Digests of the base are enough")
    func digests() throws {
        let (old, mine) = (try card("TEL:1", "TEL:2", "NOTE:a"), try card("TEL:2", "TEL:3", "NOTE:a"))
        let merged = try CardText.merge(
            base: old.units.map { BaseProperty(name: $0.name, token: $0.canonical.hashValue) }, mine: mine,
            theirs: try card("TEL:1", "TEL:2", "NOTE:b"), token: \.canonical.hashValue)
        #expect(merged.text.content == ["TEL:3", "TEL:2", "NOTE:b"])
    }

    @Test("A client that only rewrites the card changes no byte of what others wrote", arguments: 0..<300)
    func unchanged(seed: Int) throws {
        var random = Seeded(seed)
        let base = SampleCard(&random)
        var others = base
        others.edit(random.one(of: SampleCard.repeatable + SampleCard.single), &random)
        let (sent, theirs) = (try base.written(&random), try others.written(&random))
        #expect(try CardText.merge(base: sent, mine: sent, theirs: theirs).text.bytes == theirs.bytes)
        let merged = try CardText.merge(base: sent, mine: try base.rewritten(&random), theirs: theirs)
        #expect(merged.text.bytes == theirs.bytes)
        #expect(merged.changed.isEmpty && merged.conflicts.isEmpty)
    }

    @Test("Where others changed nothing, the merged card means what the client wrote", arguments: 0..<300)
    func alone(seed: Int) throws {
        var random = Seeded(seed)
        let base = SampleCard(&random)
        var edited = base
        for _ in 0..<3 { edited.edit(random.one(of: SampleCard.repeatable + SampleCard.single), &random) }
        let (sent, mine) = (try base.written(&random), try edited.rewritten(&random))
        let merged = try CardText.merge(base: sent, mine: mine, theirs: sent)
        #expect(merged.text.meaning == mine.meaning)
        #expect(merged.conflicts.isEmpty)
    }

    @Test("Edits of different properties are both in the merged card, whoever comes first", arguments: 0..<300)
    func both(seed: Int) throws {
        var random = Seeded(seed)
        let base = SampleCard(&random)
        let names = (SampleCard.repeatable + SampleCard.single).shuffled(using: &random)
        var (first, second) = (base, base)
        first.edit(names[0], &random)
        second.edit(names[1], &random)
        let sent = try base.written(&random)
        var expected = first
        expected.properties.removeAll { $0.name == names[1] }
        expected.properties += second.properties.filter { $0.name == names[1] }
        // Groups that both sides added can have one name here, so each property is compared alone.
        let meaning = try expected.properties.reduce(into: [[UInt8]: Int]()) { meaning, property in
            for unit in try card(property.lines).units { meaning[unit.canonical, default: 0] += 1 }
        }
        for (mine, theirs) in [(first, second), (second, first)] {
            let merged = try CardText.merge(
                base: sent, mine: try mine.rewritten(&random), theirs: try theirs.written(&random))
            #expect(merged.text.meaning == meaning)
            #expect(merged.conflicts.isEmpty && merged.changed.count <= 1)
        }
    }

    @Test("An edit changes only the lines of its property", arguments: 0..<300)
    func onlyItsLines(seed: Int) throws {
        var random = Seeded(seed)
        let base = SampleCard(&random)
        let name = random.one(of: SampleCard.repeatable + SampleCard.single)
        var edited = base
        edited.edit(name, &random)
        let sent = try base.written(&random)
        let merged = try CardText.merge(base: sent, mine: try edited.rewritten(&random), theirs: sent)
        let kept = base.properties.filter { $0.name != name }
        let rest = sent.units.indices.filter { sent.units[$0].name == name }
        let ofOthers = merged.text.units.indices.filter { merged.text.units[$0].name == name }
        #expect(
            try merged.text.applying(ofOthers.map { .remove($0) }).bytes
                == (try sent.applying(rest.map { .remove($0) }).bytes))
        #expect(try sent.applying(rest.map { .remove($0) }).units.count == kept.count)
    }
}
