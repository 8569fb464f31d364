import BrokerJSON
import BrokerVarlink
import Testing

/// Putting back what apps changed.
extension ModelRun {
    /// The person puts back a save, one contact of it, or everything of an app since a time.
    func putBack() throws {
        let deletions = model.saves.filter { $0.counts[2] > 0 }
        guard let save = one(chance(50) && !deletions.isEmpty ? deletions : model.saves) else { return }
        let isForced = chance(40)
        var request = ModelRequest.save(save.number)
        var parameters = #""save":\#(save.number)"#
        var what = "save \(save.number)"
        if !save.app.isEmpty, chance(35) {
            let since = save.time - Int64(chance(50) ? 0 : number(1...20_000))
            request = .app(save.app, since: since)
            parameters = #""app":"\#(save.app)","since":"\#(ModelDate.text(since))""#
            what = "app \(save.app) since save \(save.number)"
        } else if chance(50), let (contact, name, isOnly) = namedContact(of: save) {
            request = .contact(contact, of: save.number)
            parameters += #","contact":"\#(name)""#
            what = "contact \(contact) of save \(save.number)"
            guard isOnly else {
                let answer = try administrator("PutBack", "{\(parameters)}")
                return try requireSame(answer.error ?? "", "InvalidValue", "putting back one of two named \(name)")
            }
        }
        let kind = what.split(separator: " ").first ?? ""
        note("put back \(kind): \(what)\(isForced ? ", forced" : ""), \(save.app.isEmpty ? "the person" : save.app)'s")
        if isForced { parameters += #","force":true"# }
        let would = model.wouldPutBack(request, isForced: isForced)
        if chance(40) {
            let answer = try administrator("PutBack", #"{\#(parameters),"dryRun":true}"#)
            try requireSame(counts(answer), text(would), "what would be put back of \(what)")
        }
        let answer = try administrator("PutBack", "{\(parameters)}")
        guard would != nil else { return try requireSame(counts(answer), text(nil), "putting back \(what)") }
        let made = model.putBack(request, isForced: isForced)
        try requireSame(counts(answer), text(made), "putting back \(what)")
        if made.returned > 0 { counted("a contact came back") }
        if made.conflicts > 0 { counted("a conflict") }
        for name in Self.appNames { try compare(name, wholly: false) }
        try compareBin()
    }

    /// A contact of a save, the name by which the person calls it, and whether no other contact of the save has the name.
    private func namedContact(of save: ModelSave) -> (number: Int, name: String, isOnly: Bool)? {
        // As it was before the save, or if the save added it, as it is now.
        let contacts = save.subjects.compactMap { subject -> ModelContact? in
            guard case .contact(let number) = subject else { return nil }
            return save.before.contacts[number] ?? model.book.contacts[number]
        }
        let names = { (contact: ModelContact) -> [String] in
            let text = { (key: ModelKey) in contact.texts(key).first?.lowercased() ?? "" }
            return [
                [text(.givenName), text(.familyName)].filter { !$0.isEmpty }.sorted().joined(separator: " "),
                text(.organizationName),
            ].filter { !$0.isEmpty }
        }
        guard let contact = one(contacts.sorted { $0.number < $1.number }), let name = names(contact).first else {
            return nil
        }
        return (contact.number, name, contacts.count { names($0).contains(name) } == 1)
    }

    private func text(_ counts: ModelPutBack?) -> String {
        guard let counts else { return "InvalidValue" }
        return "returned \(counts.returned), changed \(counts.changed), removed \(counts.removed), "
            + "conflicts \(counts.conflicts), lost 0, groups \(counts.groups)"
    }

    private func counts(_ answer: Answer) -> String {
        if let error = answer.error { return error }
        return ["returned", "changed", "removed", "conflicts", "lost", "groups"]
            .map { "\($0) \(answer.parameters[$0]?.integer ?? -1)" }.joined(separator: ", ")
    }

    /// Compares the list of the last saves.
    func compareBin() throws {
        let answer = try administrator("ListChanges", #"{"limit":50}"#)
        let first = ModelDate.text(model.now - 30 * 86_400)
        // What is too old may be in the bin a little longer.
        let told = (answer.parameters["saves"]?.elements.map(Array.init) ?? [])
            .filter { $0["time"]?.string ?? "" >= first }
        try requireSame(
            told.map { save in
                let counts = ["added", "changed", "deleted"].map { "\(save[$0]?.integer ?? -1)" }
                return
                    "\(save["number"]?.integer ?? 0) \(save["kind"]?.string ?? "") of \(save["app"]?.string ?? "") "
                    + "at \(save["time"]?.string ?? ""): \(counts.joined(separator: " "))"
            }.joined(separator: "\n    "),
            model.saves.suffix(50).reversed().map { save in
                "\(save.number) \(save.isPutBack ? "putBack" : "save") of \(save.app) at \(ModelDate.text(save.time)): "
                    + save.counts.map(String.init).joined(separator: " ")
            }.joined(separator: "\n    "), "the saves in the bin")
    }
}
