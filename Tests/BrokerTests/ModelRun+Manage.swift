import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerGrants

extension ModelRun {
    /// The access picker, opened by the app or by the person.
    func manage(_ name: String, _ act: Act, byPerson: Bool) throws {
        note("manage: \(name)\(byPerson ? " by the person" : ""), the person \(act)")
        var newly: Set<Int> = []
        let change = { (prompt: TestPerson.Prompt, person: TestPerson) in
            let app = self.model.app(name)
            let rows = try self.rows(prompt, person, name)
            let going = app.going
            let keys = self.chooseKeys(
                mayHaveNotes: app.level != .denied && going.keys.keys.contains(.note),
                mayHaveGroups: app.level != .denied && going.keys.groups)
            // It is not specified which keys a denied grant keeps, so the answer names them.
            let terms =
                keys ?? (app.level == .denied ? (#","keys":[\#(AuthorizationTable.ordinaryKeys)]"#, .ordinary) : nil)
            // Nor which of them may go beyond the policy.
            if app.level == .denied, app.rule.kind == .capKeys {
                try person.answer(prompt)
                return
            }
            if try self.refuses(terms?.keys, app, prompt, person) { return }
            var set = app.set
            switch act {
            case .refuse:
                try person.answer(prompt, #""level":"denied""#)
                if app.level == .denied { return }
                return self.model.decide(
                    name, .denied, keys: going.keys, changes: going.changes, goesOn: true)
            case .all where app.rule.kind != .capLevel && app.rule.kind != .forceLimited:
                try person.answer(prompt, #""level":"full"\#(terms?.text ?? "")"#)
                if app.level == .full, terms == nil || terms?.keys == going.keys { return }
                if app.level == .full, let keys = terms?.keys, app.decided?.level == .full {
                    return self.model.change(keys, of: name)
                }
                return self.model.decide(
                    name, .full, keys: terms?.keys ?? going.keys, changes: going.changes, expires: going.expires,
                    goesOn: true)
            case .all, .away, .dismiss, .late, .never, .some:
                let added = self.some(rows.filter { !set.contains($0.number) })
                let removed = self.some(rows.filter { set.contains($0.number) })
                let answer = try person.answer(
                    prompt,
                    #""level":"limited","identifiers":[\#(self.text(added))],"removed":[\#(self.text(removed))]"#
                        + (terms?.text ?? ""))
                try self.require(answer.error == nil, "\(name): a changed grant: \(answer.error ?? "") \(answer.text)")
                // A row that is turned on includes its linked cards. A card whose own row is turned off stays off.
                let on = self.model.book.linked(with: added.map(\.number)).subtracting(removed.map(\.number))
                let off = self.model.book.linked(with: removed.map(\.number)).subtracting(on)
                newly = on.subtracting(set)
                set = set.subtracting(off).union(on)
                let changesKeys = terms.map { $0.keys != going.keys } ?? false
                if app.level == .limited, added.isEmpty, removed.isEmpty, !changesKeys { return }
                if app.level == .limited, added.isEmpty, removed.isEmpty, let keys = terms?.keys,
                    app.decided.map({ $0.level != .denied }) == true
                {
                    return self.model.change(keys, of: name)
                }
                self.model.decide(
                    name, .limited, set: set, turnedOn: on, keys: terms?.keys ?? going.keys,
                    changes: going.changes, expires: going.expires, goesOn: true)
            }
        }
        if byPerson {
            // Under a forced level, a change by the person has no visible effect until the rule is removed.
            switch model.app(name).rule.kind {
            case .deny, .forceDenied, .forceLimited, .forceFull: return
            case .none, .capLevel, .capKeys, .capChanges, .forbid, .lifetime: break
            }
            if person == nil { person = try TestPerson(fixture: fixture) }
            guard let person, let prompt = try person.manage(app(name)) else {
                return try require(model.app(name).decided == nil, "\(name): a grant cannot be opened")
            }
            guard let decided = model.app(name).decided else {
                // An app that may never ask again has a row without a grant.
                try require(model.app(name).isSilenced, "\(name): an unexpected grant")
                try person.answer(prompt)
                return
            }
            guard model.app(name).level == .notDetermined else { return try change(prompt, person) }
            // The policy has ended the grant. The person may deny the app, but can grant access again only at a prompt
            // of the app.
            let wider = try person.answer(prompt, #""level":"limited""#)
            try requireSame(wider.error ?? "", "InvalidAnswer", "\(name): widening an ended grant")
            try person.answer(prompt, #""level":"denied""#)
            let expires = decided.level == .denied ? decided.expires : nil
            return model.decide(name, .denied, keys: decided.keys, changes: decided.changes, expires: expires)
        }
        let answer = try ask(name, "ManageAccess", "{}", act) {
            model.app(name).level == .limited && !model.app(name).isSilenced ? "manage" : nil
        } answer: {
            try change($0, $1)
        }
        let app = model.app(name)
        try compareNewly(answer, app.level == .limited ? newly : [], name)
    }
}
