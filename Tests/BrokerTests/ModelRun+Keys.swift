import BrokerAccessControl

@testable import BrokerGrants

/// Prompts for keys that an app's grant lacks.
extension ModelRun {
    /// The seconds that an app must wait. A call for more keys does not fail meanwhile, so its reply does not tell.
    func heldOff(_ app: TestApp) -> Int64? { fixture.prompts.wait(of: app.principal).map(Int64.init) }

    /// The person gives all lacked keys, or dismisses the prompt.
    func answerKeys(
        _ name: String, _ asked: ModelKeys, _ act: Act, _ prompt: TestPerson.Prompt, _ person: TestPerson
    ) throws {
        guard let lacked = model.app(name).lacked(of: asked) else { throw Difference("\(name): nothing is lacking") }
        // Nothing but these keys can be given, and the prompt stays open.
        let other = try person.answer(prompt, #""keys":["phoneNumbers"]"#)
        try requireSame(other.error ?? "", "InvalidAnswer", "\(name): a key that was not asked for")
        guard act == .all || act == .some else {
            try person.answer(prompt)
            return
        }
        let names = lacked.keys.map(\.rawValue).sorted() + (lacked.groups ? ["groups"] : [])
        try person.answer(prompt, #""keys":[\#(names.map { "\"\($0)\"" }.joined(separator: ","))]"#)
        model.add(lacked, to: name)
    }

    /// Whether an answer to a manage prompt would add keys that the policy does not permit. If so, the broker must refuse
    /// it, and the person dismisses the prompt.
    func refuses(
        _ keys: ModelKeys?, _ app: ModelApp, _ prompt: TestPerson.Prompt, _ person: TestPerson
    ) throws -> Bool {
        guard let keys, app.rule.kind == .capKeys else { return false }
        let going = app.going.keys
        guard
            keys.isWhole && !going.isWhole || !keys.keys.subtracting(going.keys).isSubset(of: app.rule.writable)
        else { return false }
        let names = keys.isWhole ? AuthorizationTable.ordinaryKeys : list(keys)
        let answer = try person.answer(prompt, #""level":"limited","keys":[\#(names)]"#)
        try requireSame(answer.error ?? "", "InvalidAnswer", "\(app.name): keys beyond the policy")
        try person.answer(prompt)
        return true
    }
}

extension ModelKeys {
    /// The keys that a request for access names.
    static func asked(withNotes: Bool, groups: Bool) -> ModelKeys {
        ModelKeys(
            keys: withNotes ? [.previousFamilyName, .givenName, .note] : [.previousFamilyName, .givenName],
            isWhole: false, groups: groups)
    }
}
