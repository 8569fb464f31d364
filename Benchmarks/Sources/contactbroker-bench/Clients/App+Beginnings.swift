import BrokerJSON
import BrokerModel
import BrokerVarlink
import BrokerVarlinkClient

/// Searches in a large book by beginnings of names, grouped by script and by how many contacts match.
extension App {
    private static let rare: Int64 = 1_000
    private static let middling: Int64 = 50_000
    private static let common: Int64 = 100_000
    /// The maximum number of beginnings of each kind. With this number, few searches repeat, and counting the
    /// matches of all beginnings is quick.
    private static let most = 24
    private static let known = 20_000

    /// Collects beginnings of eight kinds: three letters with few, some and very many matches; two letters
    /// with very many matches; four to six letters; three letters of other scripts; names in East Asian
    /// characters; two words.
    func meet(_ size: Int) throws -> [Int64] {
        var all: [People.Person] = []
        var (letters, short, long, native, characters, pairs) = (
            Set<String>(), Set<String>(), Set<String>(), Set<String>(), Set<String>(), Set<String>()
        )
        for number in stride(from: 0, to: size, by: max(1, size / Self.known)) {
            let contact = SampleContacts.contact(number, inCrowd: true)
            if let phone = contact.phoneNumbers.first, let email = contact.emailAddresses.first {
                all.append(People.Person(identifier: "", phone: phone.value, email: email.value))
            }
            for name in [contact.givenName, contact.familyName, contact.organizationName] where name.count >= 3 {
                guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
                    if name.unicodeScalars.allSatisfy({ $0.value < 0x3000 }) { native.insert(String(name.prefix(3))) }
                    continue
                }
                letters.insert(String(name.prefix(3)))
                short.insert(String(name.prefix(2)))
                long.insert(String(name.prefix(4 + number % 3)))
            }
            let (given, family) = (contact.givenName, contact.familyName)
            if given.unicodeScalars.allSatisfy({ $0.value >= 0x3000 }) {
                characters.formUnion([given, family, family + given])
            } else {
                pairs.insert(given.prefix(3) + " " + family.prefix(2))
            }
        }
        // The order differs from the book's, because neighbours in the book would share its pages.
        all.sort { $0.email.reversed().lexicographicallyPrecedes($1.email.reversed()) }
        people.all = all
        var kinds: [[String]] = [[], [], [], [], [], [], [], []]
        for letters in Self.spread(letters, 10 * Self.most) {
            let kind: Int
            switch try count(letters) {
            case 0: continue
            case ...Self.rare: kind = 0
            case ...Self.middling: kind = 1
            case Self.common...: kind = 2
            default: continue
            }
            if kinds[kind].count < Self.most { kinds[kind].append(letters) }
        }
        kinds[3] = try Self.spread(short, 2 * Self.most).filter { try count($0) >= Self.common }
        for (kind, texts) in zip(4..., [long, native, characters, pairs]) {
            kinds[kind] = Self.spread(texts, Self.most)
        }
        people.kinds = kinds
        return kinds.map { Int64($0.count) }
    }

    /// Returns at most `most` of the texts, evenly spread over the alphabet.
    private static func spread(_ texts: Set<String>, _ most: Int) -> [String] {
        let sorted = texts.sorted()
        let count = min(most, sorted.count)
        return (0..<count).map { sorted[$0 * sorted.count / count] }
    }

    private func count(_ text: String) throws -> Int64 {
        let reply = try client.call(Self.interface + "CountContacts") {
            $0.name("predicate")
            $0.object { $0.member("name", text) }
        }
        guard let count = reply["count"]?.integer else { throw Failure("nothing was counted") }
        return count
    }

    // MARK: Work that makes other clients wait

    private static let busy = ["an", "ma", "a", "m", "ann", "mar", "n", "s"]

    func countMatches() throws -> Int64 {
        for text in Self.busy { _ = try count(text) }
        return Int64(Self.busy.count)
    }

    func sortMatches() throws -> Int64 {
        for (index, text) in Self.busy.enumerated() {
            _ = try client.call(Self.interface + "FetchContacts") {
                $0.name("predicate")
                $0.object { $0.member("name", text + (index % 2 == 0 ? "" : " m")) }
                $0.member("keys", ["familyName"])
                $0.member("sortOrder", "givenName")
                $0.member("limit", 20)
            }
        }
        return Int64(Self.busy.count)
    }
}
