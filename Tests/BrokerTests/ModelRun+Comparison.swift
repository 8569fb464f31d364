import JSON
import Testing

/// Everything that an app can ask, compared with what the model says.
extension ModelRun {
    static let words = [
        "Ada", "Adam", "Bob", "Bobby", "Cid", "Dora", "Eve", "Finn", "Grace", "Gracie", "Hal", "Ida", "Jo", "Kim",
        "Lin",
    ]
    static let domains = ["example.org", "Example.com"]

    /// Compares what one app may see: always whom it sees and the place in its history; the rest wholly, or one part of
    /// it by chance.
    func compare(_ name: String, wholly: Bool) throws {
        try compareAuthorization(name)
        switch model.app(name).level {
        case .notDetermined: return
        case .denied, .restricted: return try compareDenied(name)
        case .limited, .full: break
        }
        let token = try compareEverybody(name)
        let parts = [compareGroups, compareOrder, comparePredicate, comparePredicate, compareSingle, compareHistory]
        for part in wholly ? parts : [one(parts) ?? compareHistory] { try part(name) }
        guard chance(20) else { return }
        try compareGroups(name)
        let kept = KeptToken(text: token, seconds: model.now, snapshot: model.snapshot(of: model.app(name)))
        tokens[name, default: []].append(kept)
        if tokens[name, default: []].count > 5 { tokens[name]?.remove(at: number(0...4)) }
    }

    private func compareAuthorization(_ name: String) throws {
        let answer = try app(name).call("GetAuthorization")
        let app = model.app(name)
        try requireSame(answer.parameters["status"]?.string ?? "", app.level.rawValue, "\(name): GetAuthorization")
        guard app.level == .limited || app.level == .full else { return }
        let keys = Set(answer.strings("keys").compactMap(ModelKey.init(rawValue:)))
        try requireSame(
            "\(keys.map(\.rawValue).sorted())", "\(app.keys.keys.map(\.rawValue).sorted())", "\(name): keys")
        try requireSame(
            answer.parameters["expires"]?.string ?? "", app.expires.map(ModelDate.text) ?? "", "\(name): expires")
    }

    private func compareDenied(_ name: String) throws {
        let calls = [
            ("FetchContacts", #"{"keys":["givenName"]}"#), ("CountContacts", "{}"), ("ListGroups", "{}"),
            ("FetchHistory", "{}"), ("SaveContacts", #"{"changes":[]}"#), ("ListContainers", "{}"),
            ("ListLinkedContacts", #"{"identifier":"x"}"#), ("GetUserDefaults", "{}"), ("SetUserDefaults", "{}"),
        ]
        guard let (method, parameters) = one(calls) else { return }
        let answer = try app(name).call(method, parameters)
        try requireSame((answer.error ?? "") + answer.text, "AccessDenied{}", "\(name): \(method)")
    }

    // MARK: Contacts

    /// The properties that an app may name.
    func nameable(_ name: String) -> [ModelKey] {
        ModelKey.allCases.filter { $0 != .note || model.app(name).keys.keys.contains(.note) }
    }

    func list(_ keys: [ModelKey]) -> String { keys.map { "\"\($0.rawValue)\"" }.joined(separator: ",") }

    /// A contact of an answer in one line.
    func line(_ contact: JSONValue, _ keys: [ModelKey]) -> String {
        let values = keys.map { key -> String in
            guard key.isList else { return contact[key.rawValue]?.string ?? "absent" }
            guard let elements = contact[key.rawValue]?.elements else { return "absent" }
            return elements.map { "\($0["identifier"]?.string ?? "?")=\($0["value"]?.string ?? "?")" }
                .joined(separator: ",")
        }
        return values.joined(separator: "|")
    }

    /// Which contact an answer is about, by the property that is in every scope.
    func number(of contact: JSONValue) -> Int? {
        contact["previousFamilyName"]?.string.flatMap { Int($0.dropFirst(2)) }
    }

    func learn(_ contacts: [JSONValue], _ name: String) throws {
        for contact in contacts {
            guard let identifier = contact["identifier"]?.string, let number = number(of: contact) else {
                throw Difference("\(name): a contact without an identifier or a name: \(contact.text)")
            }
            if let problem = contactNames.learn(identifier, number, model.app(name).key) { throw Difference(problem) }
        }
    }

    /// Fetches, and compares the whole answer with what the model would give in that order.
    @discardableResult
    func fetch(
        _ name: String, _ parameters: String, _ keys: [ModelKey], expecting contacts: [ModelContact]
    ) throws -> String {
        let answer = try app(name).call(
            "FetchContacts", #"{"keys":[\#(list(keys))]\#(parameters.isEmpty ? "" : ",")\#(parameters)}"#)
        try require(answer.error == nil, "\(name): FetchContacts \(parameters): \(answer.error ?? "") \(answer.text)")
        let scope = model.app(name).keys
        try requireSame(
            answer.contacts.map { line($0, keys) }.joined(separator: "\n    "),
            contacts.map { model.line($0, keys, scope) }.joined(separator: "\n    "),
            "\(name): FetchContacts \(parameters)")
        try learn(answer.contacts, name)
        guard let token = answer.token else { throw Difference("\(name): a list without a token") }
        try saw(token, name)
        return token
    }

    func compareEverybody(_ name: String) throws -> String {
        let app = model.app(name)
        let everybody = model.contacts(of: app)
        let token = try fetch(name, "", nameable(name), expecting: everybody)
        try requireSame(
            try self.app(name).call("CountContacts").text, #"{"count":\#(everybody.count)}"#, "\(name): CountContacts")
        return token
    }

    /// One order, page by page, with few properties.
    private func compareOrder(_ name: String) throws {
        let order = one(["none", "userDefault", "givenName", "familyName"]) ?? ""
        let app = model.app(name)
        let expected = model.sorted(model.contacts(of: app), order, app.keys)
        let limit = max(1, expected.count / number(1...4))
        var (told, after, pages): ([JSONValue], String?, Int) = ([], nil, 0)
        repeat {
            let place = after.map { #","after":"\#($0)""# } ?? ""
            let page = try self.app(name).call(
                "FetchContacts",
                #"{"keys":["previousFamilyName"],"sortOrder":"\#(order)","limit":\#(limit)\#(place)}"#)
            try require(page.error == nil && page.contacts.count <= limit, "\(name): a page: \(page.text)")
            told += page.contacts
            after = page.parameters["next"]?.string
            pages += 1
        } while after != nil && pages < 100
        try requireSame(
            told.map { number(of: $0).map(String.init) ?? "?" }.joined(separator: " "),
            expected.map { String($0.number) }.joined(separator: " "), "\(name): in order \(order) by pages of \(limit)"
        )
    }

    private func comparePredicate(_ name: String) throws {
        let (text, predicate) = makePredicate(name)
        let app = model.app(name)
        let order = one(["none", "userDefault", "givenName", "familyName"]) ?? ""
        let expected = model.sorted(model.find(predicate, app), order, app.keys)
        try fetch(
            name, #""predicate":{\#(text)},"sortOrder":"\#(order)""#, [.previousFamilyName, .givenName],
            expecting: expected)
        try requireSame(
            try self.app(name).call("CountContacts", #"{"predicate":{\#(text)}}"#).text,
            #"{"count":\#(expected.count)}"#, "\(name): CountContacts \(text)")
    }

    private func makePredicate(_ name: String) -> (String, Model.Predicate) {
        // Of any contact of the book: the app must find by it only what it may see.
        let contact = one(Array(model.book.contacts.keys.sorted())).flatMap { model.book.contacts[$0] }
        switch number(0...5) {
        case 0:
            let words = (0..<number(1...2)).compactMap { _ in one(Self.words)?.prefix(number(1...5)).lowercased() }
            let query = chance(20) ? ModelContact.mark(contact?.number ?? 0) : words.joined(separator: " ")
            return (#""name":"\#(query)""#, .name(query))
        case 1:
            let address = contact.flatMap { one($0.texts(.emailAddresses)) } ?? "nobody@example.org"
            let typed = chance(50) ? address.uppercased() : address
            return (#""emailAddress":"\#(typed)""#, .email(typed))
        case 2:
            let number = contact.flatMap { one($0.texts(.phoneNumbers)) } ?? "+49 30 5550000"
            let typed = chance(50) ? number.filter { $0 != " " } : number
            return (#""phoneNumber":"\#(typed)""#, .phone(typed))
        case 3:
            let names = (0..<number(0...4)).compactMap { _ in one(contactNames.all) }
            let own = names.compactMap { contactNames.number($0, model.app(name).key) }
            return (#""identifiers":[\#(names.map { "\"\($0)\"" }.joined(separator: ","))]"#, .contacts(own))
        case 4:
            let group = one(groupNames.all) ?? "nothing"
            return (#""group":"\#(group)""#, .group(groupNames.number(group, model.app(name).key)))
        default: return (#""me":true"#, .me)
        }
    }

    /// What answers about one contact.
    private func compareSingle(_ name: String) throws {
        guard let identifier = one(contactNames.all) else { return }
        let app = model.app(name)
        let number = contactNames.number(identifier, app.key)
        let isVisible = number.map { model.book.contacts[$0] != nil && app.sees(contact: $0) } ?? false
        let linked = try self.app(name).call("ListLinkedContacts", #"{"identifier":"\#(identifier)"}"#)
        try requireSame(
            (linked.error ?? "") + linked.text,
            isVisible ? #"{"identifiers":["\#(identifier)"]}"# : "RecordDoesNotExist{}",
            "\(name): ListLinkedContacts of \(number ?? 0)")
        let containers = try self.app(name).call("ListContainers", #"{"contact":"\#(identifier)"}"#)
        try requireSame(
            containers.error ?? "", isVisible ? "" : "RecordDoesNotExist", "\(name): ListContainers of \(number ?? 0)")
    }

    // MARK: Groups

    func compareGroups(_ name: String) throws {
        let app = model.app(name)
        let answer = try self.app(name).call("ListGroups")
        try require(answer.error == nil, "\(name): ListGroups: \(answer.text)")
        let told = answer.parameters["groups"]?.elements.map(Array.init) ?? []
        for group in told {
            // A group is called by its number and a word.
            guard let identifier = group["identifier"]?.string, let number = number(ofGroup: group) else {
                throw Difference("\(name): a group without a name: \(answer.text)")
            }
            if let problem = groupNames.learn(identifier, number, app.key) { throw Difference(problem) }
        }
        let expected = model.groups(of: app)
        let parents = { (child: Int) in
            expected.filter { $0.subgroups.contains(child) }.map { self.groupNames.name($0.number, app.key) ?? "?" }
        }
        try requireSame(
            told.map { group in
                let parents = group["parents"]?.elements?.compactMap(\.string) ?? ["absent"]
                return "\(group["name"]?.string ?? "") in \(parents.sorted())"
            }.joined(separator: ", "),
            expected.map { "\($0.name) in \(parents($0.number).sorted())" }.joined(separator: ", "),
            "\(name): ListGroups")
        guard let group = one(groupNames.all) else { return }
        let known = groupNames.number(group, app.key)
        let one = try self.app(name).call("ListGroups", #"{"identifiers":["\#(group)"]}"#)
        try requireSame(
            "\(one.parameters["groups"]?.count ?? -1)", expected.contains { $0.number == known } ? "1" : "0",
            "\(name): ListGroups of group \(known ?? 0)")
    }

    func number(ofGroup group: JSONValue) -> Int? {
        group["name"]?.string?.split(separator: " ").first.flatMap { Int($0) }
    }
}
