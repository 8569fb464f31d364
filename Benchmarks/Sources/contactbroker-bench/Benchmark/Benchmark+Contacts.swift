/// Measures how much time the library `Contacts` adds to the calls.
extension Benchmark {
    private static let lists = 20
    private static let contactFetches = 4_000

    mutating func measureContacts() throws {
        let app = try ChildProcess(Role.program, [Role.contacts.rawValue, scratch.apps])
        _ = try app.ask("ask")
        // This comes first, because later lists reuse the memory of earlier ones.
        let kept = try app.ask("keep")
        _ = try app.ask("list 3")
        let listed = try app.ask("list \(Self.lists)")
        guard listed[0] == Int64(size) else { throw Failure("the library lists \(listed[0]) contacts") }
        report.figures.append(
            Figure("Contacts: \(size) to objects", Samples(Array(listed.dropFirst()))))
        let touched = try app.ask("touch \(Self.lists)")
        report.figures.append(
            Figure("Contacts: the same, and each looked at", Samples(Array(touched.dropFirst()))))
        report.remarks.append(
            "With the library, a contact that an app keeps and does not look at takes \(kept[1] / max(1, kept[0])) bytes."
        )
        _ = try app.ask("fetch 400")
        let fetched = try app.ask("fetch \(Self.contactFetches)")
        let bare = Samples(fetched.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
        let library = Samples(fetched.enumerated().filter { $0.offset % 2 == 0 }.map(\.element))
        report.figures.append(Figure("Contacts: the bare call by identifier", bare))
        report.figures.append(Figure("Contacts: by identifier", library))
    }
}
