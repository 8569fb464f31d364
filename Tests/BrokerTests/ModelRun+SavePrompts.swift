import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerGrants

/// Saves about which the person is asked.
extension ModelRun {
    /// What becomes of a prompt.
    private enum Outcome {
        case allowed
        case refused(String)
        case left
    }

    /// Makes a save about which the person may be asked, and lets the person answer.
    ///
    /// - Returns: the answer, or `nil` if the app has left; and the expected error, or `nil` if the save is made.
    func ask(saving draft: ModelDraft, _ name: String) throws -> (answer: Answer?, error: String?) {
        if chance(8) {
            person?.leave()
            person = nil
        } else if person == nil {
            person = try TestPerson(fixture: fixture)
        }
        let app = app(name)
        let call = try app.begin("SaveContacts", #"{"changes":[\#(draft.texts.joined(separator: ","))]}"#)
        var error = draft.error
        // What would empty a contact is known only when the save is made.
        for refusal in [draft.refusal, nil, draft.emptying] where error == nil {
            guard let refusal else {
                error = draft.late
                continue
            }
            switch try settle(refusal, draft, call, name) {
            case .allowed:
                // Without all keys an app empties no contact of others.
                if refusal.right == .all, draft.emptying != nil, !model.app(name).keys.isWhole { error = refusal.error }
            case .refused(let why): error = why
            case .left: return (nil, nil)
            }
        }
        try require(fixture.loop.run { call.isOver }, "\(name): a save has no answer")
        return (try app.replies(1, to: call)[0], error)
    }

    /// One prompt, if the model expects it.
    private func settle(
        _ refusal: ModelDraft.Refusal, _ draft: ModelDraft, _ call: Call, _ name: String
    ) throws -> Outcome {
        let app = model.app(name)
        guard let right = refusal.right, app.leavesToPerson(right), mayBeAsked(name), heldOff(self.app(name)) == nil
        else { return .refused(refusal.error) }
        try require(
            fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 },
            "a save of \(name): neither a reply nor a prompt")
        try require(!call.isOver, "\(name): a save does not ask for the right \(right)")
        guard let person else {
            counted("asks nobody")
            return try wait(6, refusal, name)
        }
        let prompt = try compare(draft, right, person, name)
        switch number(0...19) {
        case 0...6:
            counted("save allowed once")
            try accept(#""allow":"once""#, prompt, person, name)
            return .allowed
        case 7...10:
            counted("save allowed from now on")
            try accept(#""allow":"always""#, prompt, person, name)
            model.raise(name, to: right)
            return .allowed
        case 11:
            counted("save not answered")
            return try wait(121, refusal, name)
        case 12 where chance(30):
            counted("save never asked again")
            try accept(#""neverAskAgain":true"#, prompt, person, name)
            model.apps[name]?.isSilenced = true
            return .refused(refusal.error)
        case 13...16:
            try leave(prompt, right, person, call, name)
            return .left
        default:
            counted("save refused")
            try accept("", prompt, person, name)
            return .refused(refusal.error)
        }
    }

    private func accept(_ fields: String, _ prompt: TestPerson.Prompt, _ person: TestPerson, _ name: String) throws {
        let answer = try person.answer(prompt, fields)
        try require(answer.error == nil, "\(name): the answer \(fields): \(answer.error ?? "") \(answer.text)")
    }

    /// Nobody answers. Meanwhile the app's grant may end.
    private func wait(_ seconds: Int64, _ refusal: ModelDraft.Refusal, _ name: String) throws -> Outcome {
        try advance(by: seconds)
        return .refused(model.app(name).level == .notDetermined ? "AuthorizationNotDetermined{}" : refusal.error)
    }

    /// The prompt must name the smallest right that is enough, and count what the save does.
    private func compare(
        _ draft: ModelDraft, _ right: ChangeRight, _ person: TestPerson, _ name: String
    ) throws -> TestPerson.Prompt {
        guard let prompt = try person.prompts().last, let told = try person.told().last else {
            throw Difference("\(name): the agent gets no prompt of a save")
        }
        let counts = ["deleted", "changed", "added"].map { told["save"]?[$0]?.integer ?? -1 }
        try requireSame(
            "\(prompt.kind) \(told["changes"]?.string ?? "") \(told["grantedChanges"]?.string ?? "") \(counts)",
            "change \(right.rawValue) \(model.app(name).changes.rawValue) "
                + "\([draft.deletions.count, draft.changes.count, draft.contacts.count])",
            "\(name): the prompt of a save")
        return prompt
    }

    /// The app leaves before or after the person's answer.
    private func leave(
        _ prompt: TestPerson.Prompt, _ right: ChangeRight, _ person: TestPerson, _ call: Call, _ name: String
    ) throws {
        guard chance(70) else {
            counted("app left before the answer")
            hangUp(name)
            let late = try person.answer(prompt, #""allow":"once""#)
            return try requireSame(late.error ?? "", "UnknownPrompt", "\(name): an answer for an app that has left")
        }
        // While another save is being written, the allowed one waits, and so does one that raises the right.
        let other = chance(70) ? try beginOther(than: name) : nil
        counted(other == nil ? "app left after an answer for later" : "app left after an answer for once")
        let answer = try person.agent.begin(
            "Answer",
            #"{"agent":"\#(person.token)","cookie":"\#(prompt.cookie)","allow":"\#(other == nil ? "always" : "once")"}"#,
            turning: false)
        hangUp(name)
        try require(
            fixture.loop.run { answer.isOver && call.isOver && other?.isOver != false },
            "\(name): the answer is not accepted")
        try requireSame(try person.agent.replies(to: answer).last?.error ?? "", "", "\(name): an answer")
        fixture.acceptedAnswers += 1
        if other == nil { model.raise(name, to: right) }
    }

    /// Begins a save of another app that changes nothing; returns `nil` if no app may make one.
    private func beginOther(than name: String) throws -> Call? {
        for other in Self.appNames where other != name {
            let app = model.app(other)
            guard app.level == .full || app.level == .limited, app.changes >= .edit,
                let contact = model.contacts(of: app).first
            else { continue }
            _ = try compareEverybody(other)
            let identifier = contactNames.name(contact.number, app.key) ?? ""
            return try self.app(other).begin(
                "SaveContacts",
                #"{"changes":[{"operation":"update","contact":{"identifier":"\#(identifier)"}}],"mayAsk":false}"#,
                turning: false)
        }
        return nil
    }
}
