import BrokerJSON
import BrokerModel
import BrokerVarlink
import BrokerVarlinkClient

/// The values by which an app can search for contacts in the book.
struct People {
    struct Person {
        let identifier: String
        let phone: String
        let email: String
    }

    /// Their order differs from the book's.
    var all: [Person] = []
    /// The first letters of names and organisations.
    var letters: [String] = []
    /// Beginnings of names by kind; see ``App/meet(_:)``.
    var kinds: [[String]] = []
    /// Cursors in the list, in no particular order.
    var places: [String] = []
    var order = "userDefault"
}

/// Searches contacts by typed text, and fetches pages of the list.
extension App {
    /// The keys that contactbook requests for a list.
    private static let listKeys = ContactKeySet.names.union(ContactKeySet([.phoneNumbers, .emailAddresses]))
    /// The keys that a phone shows of a caller (`phoneKeys`), and a mail program of a sender (`emailKeys`).
    private static let phoneKeys = ContactKeySet.names.union(ContactKeySet([.phoneNumbers]))
    private static let emailKeys = ContactKeySet.names.union(ContactKeySet([.emailAddresses]))
    /// Keys that few contacts have. Each combination of them makes a different request, so the audit does not
    /// count it as a repetition.
    private static let rareKeys: [ContactKey] = [
        .birthday, .dates, .urlAddresses, .contactRelations, .socialProfiles, .instantMessageAddresses,
    ]
    private static let pageSize = 50
    private static let rows = 20
    private static let warmUp = 20

    private static func names(_ keys: ContactKeySet) -> [String] { keys.keys.map(\.rawValue) }

    func study() throws -> Int64 {
        var people: [People.Person] = []
        var letters = Set<String>()
        try client.stream(Self.interface + "FetchContacts") {
            $0.member("keys", Self.names(Self.listKeys))
        } each: { reply, _ in
            guard let contacts = reply["contacts"]?.elements else { throw Failure("a reply without contacts") }
            for contact in contacts {
                let person = try WireContact(contact)
                let values = person.contact
                for name in [values.givenName, values.familyName, values.organizationName] where name.count >= 3 {
                    letters.insert(String(name.prefix(3)))
                }
                guard let phone = values.phoneNumbers.first, let email = values.emailAddresses.first else { continue }
                people.append(
                    People.Person(identifier: person.identifier ?? "", phone: phone.value, email: email.value))
            }
            return true
        }
        people.sort { $0.identifier < $1.identifier }
        self.people.all = people
        self.people.letters = letters.sorted()
        identifiers = people.map(\.identifier)
        return Int64(people.count)
    }

    private func fetch(
        _ predicate: (name: String, value: String)?, _ keys: ContactKeySet, limit: Int, after: String? = nil
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object {
            if let predicate {
                $0.name("predicate")
                $0.object { $0.member(predicate.name, predicate.value) }
            }
            $0.member("keys", Self.names(keys))
            $0.member("sortOrder", people.order)
            $0.member("limit", limit)
            $0.member("after", after)
        }
        return CallFrame.encode(Self.interface + "FetchContacts", parameters: writer.bytes)
    }

    func search(_ count: Int) throws -> [Int64] {
        try measure(count, warmUp: Self.warmUp) {
            let letters = people.letters[next % people.letters.count]
            let variant = next / people.letters.count
            next += 1
            return fetch(("name", letters), variantOfListKeys(variant), limit: Self.rows)
        } check: { reply in
            guard (1...Self.rows).contains(reply["contacts"]?.count ?? 0) else { throw Failure("nobody was found") }
        }
    }

    private func variantOfListKeys(_ variant: Int) -> ContactKeySet {
        Self.listKeys.union(
            ContactKeySet(Self.rareKeys.enumerated().filter { variant >> $0.offset & 1 == 1 }.map(\.element)))
    }

    func phone(_ count: Int) throws -> [Int64] {
        try look(count) { person, spelling in
            ("phoneNumber", Self.spell(person.phone, spelling), Self.phoneKeys)
        }
    }

    func email(_ count: Int) throws -> [Int64] {
        try look(count) { person, spelling in
            ("emailAddress", spelling % 2 == 0 ? person.email : person.email.uppercased(), Self.emailKeys)
        }
    }

    private func look(
        _ count: Int, _ question: (People.Person, _ spelling: Int) -> (String, String, ContactKeySet)
    ) throws -> [Int64] {
        var wanted = ("", "")
        return try measure(count, warmUp: Self.warmUp) {
            let person = people.all[next % people.all.count]
            let (name, value, keys) = question(person, next)
            wanted = name == "phoneNumber" ? ("phoneNumbers", person.phone) : ("emailAddresses", person.email)
            next += 1
            return fetch((name, value), keys, limit: Self.rows)
        } check: { reply in
            let isFound = reply["contacts"]?.elements?.contains { contact in
                contact[wanted.0]?.elements?.contains { $0["value"]?.string == wanted.1 } ?? false
            }
            guard isFound == true else {
                throw Failure("who was looked for was not found")
            }
        }
    }

    /// Returns a number as it is stored, or as people write it: without spaces, with hyphens, with the trunk
    /// zero, without the country, and without country and area.
    private static func spell(_ number: String, _ spelling: Int) -> String {
        let parts = number.split(separator: " ")
        guard parts.count == 4 else { return number }
        switch spelling % 6 {
        case 0: return number
        case 1: return parts.joined()
        case 2: return parts.joined(separator: "-")
        case 3: return "\(parts[0]) (0)\(parts[1]) \(parts[2])\(parts[3])"
        case 4: return "(0\(parts[1])) \(parts[2])-\(parts[3])"
        default: return "\(parts[2])\(parts[3])"
        }
    }

    // MARK: Pages

    func walk(_ step: Int) throws -> Int64 {
        people.places = []
        var after: String?
        repeat {
            try socket.send(fetch(nil, [], limit: step, after: after))
            after = try checked(socket.receiveReply())["next"]?.string
            if let after { people.places.append(after) }
        } while after != nil
        // After the last cursors there may be fewer contacts than a page has.
        people.places.removeLast(min(people.places.count, (Self.pageSize + step - 1) / step))
        people.places.sort()
        return Int64(people.places.count)
    }

    func page(_ count: Int) throws -> [Int64] {
        try measure(count, warmUp: Self.warmUp) {
            let place = people.places[next % people.places.count]
            let variant = next / people.places.count
            next += 1
            return fetch(nil, variantOfListKeys(variant), limit: Self.pageSize, after: place)
        } check: { reply in
            guard reply["contacts"]?.count == Self.pageSize else { throw Failure("the page is not full") }
        }
    }
}
