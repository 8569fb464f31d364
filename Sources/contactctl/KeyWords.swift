import ContactsModel
import JSON

/// A set of keys in few words: a person wants to know what is left out, a script takes `--json`.
enum KeyWords {
    static func text(_ json: JSONValue?) -> String? {
        guard let elements = json?.elements else { return nil }
        let names = elements.compactMap(\.string)
        let keys = ContactKeySet(names.compactMap(ContactKey.init(rawValue:)))
        if keys == .all { return "everything" }
        if keys == ContactKeySet.all.subtracting(.named) { return "everything but notes" }
        var words: [String] = []
        var rest = keys
        for (set, word) in [(ContactKeySet.names, "names"), (.images, "pictures")] where keys.isSuperset(of: set) {
            words.append(word)
            rest.subtract(set)
        }
        words += rest.keys.map(\.rawValue)
        // Keys that a later broker knows and this program does not.
        words += names.filter { ContactKey(rawValue: $0) == nil }
        return words.joined(separator: ", ")
    }
}
