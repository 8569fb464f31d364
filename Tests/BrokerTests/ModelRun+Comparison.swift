import BrokerJSON
import Testing

/// Compares everything that an app can ask for with the model.
extension ModelRun {
    static let words = [
        "Ada", "Adam", "Bob", "Bobby", "Cid", "Dora", "Eve", "Finn", "Grace", "Gracie", "Hal", "Ida", "Jo", "Kim",
        "Lin", "A",
    ]
    static let domains = ["example.org", "Example.com"]

    /// Compares the answers that one app gets with the model. Its contacts and history position are always compared.
    /// The other answers are compared completely, or only one random part of them.
    func compare(_ name: String, wholly: Bool) throws {
        try compareAuthorization(name)
        switch model.app(name).level {
        case .notDetermined: return
        case .denied, .restricted: return try compareDenied(name)
        case .limited, .full: break
        }
        let token = try compareEverybody(name)
        let parts = [
            compareGroups, compareOrder, comparePredicate, comparePredicate, compareSingle, compareHistory,
            compareRevisions,
        ]
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
        try requireSame("\(answer.strings("keys").contains("groups"))", "\(app.keys.groups)", "\(name): the key groups")
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

    /// The properties that an app may name in a request.
    func nameable(_ name: String) -> [ModelKey] {
        ModelKey.allCases.filter { $0 != .note || model.app(name).keys.keys.contains(.note) }
    }

    func list(_ keys: [ModelKey]) -> String { keys.map { "\"\($0.rawValue)\"" }.joined(separator: ",") }

    /// The keys of a grant.
    func list(_ keys: ModelKeys) -> String {
        list(keys.keys.sorted { $0.rawValue < $1.rawValue }) + (keys.groups ? #","groups""# : "")
    }

    /// A contact from an answer, in one line.
    func line(_ contact: JSONValue, _ keys: [ModelKey]) -> String {
        let values = keys.map { key -> String in
            guard key.isList else { return contact[key.rawValue]?.string ?? "absent" }
            guard let elements = contact[key.rawValue]?.elements else { return "absent" }
            return elements.map { "\($0["identifier"]?.string ?? "?")=\($0["value"]?.string ?? "?")" }
                .joined(separator: ",")
        }
        return values.joined(separator: "|")
    }

    /// The number of the contact that an answer is about, from the property that is in every scope.
    func number(of contact: JSONValue) -> Int? {
        contact["previousFamilyName"]?.string.flatMap { Int($0.dropFirst(2)) }
    }

    /// - Parameter people: the contacts that the answer is about.
    func learn(_ contacts: [JSONValue], _ people: [ModelPerson], _ name: String) throws {
        for (contact, person) in zip(contacts, people) {
            guard let identifier = contact["identifier"]?.string, let number = number(of: contact) else {
                throw Difference("\(name): a contact without an identifier or a name: \(contact.text)")
            }
            let key = model.app(name).key
            let problem =
                person.isUnified
                ? unifiedNames.learn(identifier, number, key) : contactNames.learn(identifier, number, key)
            if let problem { throw Difference(problem) }
        }
    }

    /// The visible cards that an identifier names. For a unified contact these are all its cards.
    func meaning(of identifier: String, _ name: String) -> [Int] {
        let app = model.app(name)
        if let number = contactNames.number(identifier, app.key) {
            return model.book.contacts[number] != nil && app.sees(contact: number) ? [number] : []
        }
        guard let first = unifiedNames.number(identifier, app.key).flatMap({ model.book.contacts[$0] }),
            app.sees(contact: first.number)
        else { return [] }
        // A unified contact is named by its first visible card, as long as that is the first of several.
        let person = model.person(of: first, app)
        return person.isUnified && person.first.number == first.number ? person.members.map(\.number) : []
    }

    /// Fetches, and compares the whole answer with what the model gives in that order.
    @discardableResult
    func fetch(
        _ name: String, _ parameters: String, _ keys: [ModelKey], expecting people: [ModelPerson]
    ) throws -> String {
        let answer = try app(name).call(
            "FetchContacts", #"{"keys":[\#(list(keys))]\#(parameters.isEmpty ? "" : ",")\#(parameters)}"#)
        try require(answer.error == nil, "\(name): FetchContacts \(parameters): \(answer.error ?? "") \(answer.text)")
        let scope = model.app(name).keys
        try requireSame(
            answer.contacts.map { line($0, keys) }.joined(separator: "\n    "),
            people.map { person in
                model.line(person, keys, scope) { contactNames.name($0, model.app(name).key) ?? "?" }
            }.joined(separator: "\n    "),
            "\(name): FetchContacts \(parameters)")
        try learn(answer.contacts, people, name)
        guard let token = answer.token else { throw Difference("\(name): a list without a token") }
        try saw(token, name)
        return token
    }

    func compareEverybody(_ name: String) throws -> String {
        let app = model.app(name)
        try fetch(name, #""unify":false"#, nameable(name), expecting: model.people(of: app, unify: false))
        let people = model.people(of: app)
        let token = try fetch(name, "", nameable(name), expecting: people)
        try requireSame(
            try self.app(name).call("CountContacts").text, #"{"count":\#(people.count)}"#, "\(name): CountContacts")
        return token
    }

    /// Compares one sort order, page by page, with one property.
    private func compareOrder(_ name: String) throws {
        let order = one(["none", "userDefault", "givenName", "familyName"]) ?? ""
        let app = model.app(name)
        let unify = chance(70)
        // All contacts, or those that match a predicate.
        let (text, predicate) = chance(50) ? ("", nil) : makePredicate(name)
        let expected = model.people(predicate, order, app, unify: unify).map(\.first)
        let condition = predicate == nil ? "" : #","predicate":{\#(text)}"#
        let limit = max(1, expected.count / number(1...4))
        var (told, after, pages): ([JSONValue], String?, Int) = ([], nil, 0)
        repeat {
            let place = after.map { #","after":"\#($0)""# } ?? ""
            let page = try self.app(name).call(
                "FetchContacts",
                #"{"keys":["previousFamilyName"],"sortOrder":"\#(order)","limit":\#(limit),"unify":\#(unify)"#
                    + "\(condition)\(place)}")
            try require(page.error == nil && page.contacts.count <= limit, "\(name): a page: \(page.text)")
            told += page.contacts
            after = page.parameters["next"]?.string
            pages += 1
        } while after != nil && pages < 100
        try requireSame(
            told.map { number(of: $0).map(String.init) ?? "?" }.joined(separator: " "),
            expected.map { String($0.number) }.joined(separator: " "),
            "\(name): in order \(order) by pages of \(limit), unify \(unify)\(condition)")
    }

    private func comparePredicate(_ name: String) throws {
        let (text, predicate) = makePredicate(name)
        let app = model.app(name)
        let order = one(["none", "userDefault", "givenName", "familyName"]) ?? ""
        let unify = chance(70)
        try fetch(
            name, #""predicate":{\#(text)},"sortOrder":"\#(order)","unify":\#(unify)"#,
            [.previousFamilyName, .givenName], expecting: model.people(predicate, order, app, unify: unify))
        let expected = model.people(predicate, "none", app, unify: true)
        try requireSame(
            try self.app(name).call("CountContacts", #"{"predicate":{\#(text)}}"#).text,
            #"{"count":\#(expected.count)}"#, "\(name): CountContacts \(text)")
    }

    private func makePredicate(_ name: String) -> (String, Model.Predicate) {
        // Search for values of any contact in the book: the app must find only contacts that it may see.
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
            let names = (0..<number(0...4)).compactMap { _ in
                chance(70) ? one(contactNames.all) : one(unifiedNames.all)
            }
            let own = names.flatMap { meaning(of: $0, name) }
            return (#""identifiers":[\#(names.map { "\"\($0)\"" }.joined(separator: ","))]"#, .contacts(own))
        case 4:
            let group = one(groupNames.all) ?? "nothing"
            return (#""group":"\#(group)""#, .group(groupNames.number(group, model.app(name).key)))
        default: return (#""me":true"#, .me)
        }
    }

    /// Compares the calls about one contact.
    private func compareSingle(_ name: String) throws {
        guard let identifier = chance(70) ? one(contactNames.all) : one(unifiedNames.all) else { return }
        let app = model.app(name)
        let number = meaning(of: identifier, name).first
        let isVisible = number != nil
        let linked = try self.app(name).call("ListLinkedContacts", #"{"identifier":"\#(identifier)"}"#)
        let members = model.book.linked(with: number ?? 0, seesEvidence: app.keys.isWhole)
            .filter { app.sees(contact: $0) }.sorted()
        let names = members.map { "\"\(contactNames.name($0, app.key) ?? "?")\"" }.joined(separator: ",")
        try requireSame(
            (linked.error ?? "") + linked.text,
            isVisible ? #"{"identifiers":[\#(names)]}"# : "RecordDoesNotExist{}",
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
            // A group's name is its number and a word.
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
