/// Measures look-ups by typed text, and pages of the list.
extension Benchmark {
    private struct Lookup {
        let task: String
        let work: String
        let bar: Bar
        /// Whether the bar also applies to books of other sizes.
        var isBarForAnySize = false
        /// The maximum number of look-ups by the peer.
        var peerCount = 400
    }

    private static let all = [
        Lookup(task: "search", work: "three letters, first 20 in order", bar: .times(5)),
        Lookup(task: "phone", work: "by phone number", bar: .times(1_000), isBarForAnySize: true, peerCount: 20),
        Lookup(task: "email", work: "by e-mail address", bar: .times(6)),
    ]
    private static let lookups = 1_000
    private static let pages = 1_000
    private static let peerPages = 100

    mutating func measureLookups(_ app: ChildProcess) throws {
        let isMillion = size == Self.millionContacts
        if !isMillion {
            guard try app.ask("study", within: 60) == [Int64(size)] else {
                throw Failure("not every contact was imported")
            }
        }
        for lookup in Self.all {
            for placing in Placing.allCases {
                let rounds = try doAndPing(app, lookup.task, placing, count: Self.lookups)
                let (ours, floor) = (Samples(rounds.answers), Samples(rounds.pings))
                addFigures(name("\(lookup.work), \(placing.rawValue)"), ours, floor: floor)
                // measureFound sets the bars for a million contacts.
                guard placing == .twoCores, !isMillion else { continue }
                let peer = peerAmounts(lookup.task, count: lookup.peerCount, details: name(lookup.work))
                report.comparisons.append(
                    Comparison(
                        work: name("\(lookup.work), two cores"), ours: .p50(ours), peer: peer.overBus,
                        peerAtBest: peer.atBest, floor: .p50(floor),
                        bar: lookup.isBarForAnySize ? lookup.bar : usual(lookup.bar)))
            }
        }
        guard size == Self.contacts else { return }
        report.remarks.append(
            "The audit counts a disclosure that repeats within 10 s in place of recording it. No question, page or contact comes "
                + "again so soon, except those of the limited app, which has \(Person.chosen) contacts.")
        report.remarks.append(
            "Three letters: the peer's library has no limit for a query, so all that match come, in no order. Our letters begin "
                + "any word of a name or organisation, the peer's a full name. A phone number is asked for in six spellings, "
                + "of the peer only in the three that have the country: it finds no other.")
    }

    mutating func measurePages(_ app: ChildProcess) throws {
        _ = try place(app, nil)
        let places = try app.ask("walk \(size / Self.pages)", within: 60)[0]
        guard places > Self.pages / 2 else { throw Failure("the list has only \(places) places") }
        let rounds = try doAndPing(app, "page", nil, count: Self.pages)
        let (ours, floor) = (Samples(rounds.answers), Samples(rounds.pings))
        let work = name("a page of 50 in order, anywhere")
        addFigures(work, ours, floor: floor)
        guard size != Self.millionContacts else { return }
        let peer = peerAmounts("page", count: Self.peerPages, details: work)
        report.comparisons.append(
            Comparison(
                work: work, ours: .p50(ours), peer: peer.overBus, peerAtBest: peer.atBest, floor: .p50(floor),
                bar: .times(25)))
    }
}
