import BrokerJSON
import BrokerModel

/// Describes a set of keys in a few words. Scripts use `--json` instead.
enum KeyWords {
    static func text(_ json: JSONValue?) -> String? {
        guard let elements = json?.elements else { return nil }
        let names = elements.compactMap(\.string)
        let known = ContactKeySet(names.compactMap(GrantKey.init(rawValue:)))
        // A later version of the broker may send keys that this program does not know.
        let rest = names.filter { GrantKey(rawValue: $0) == nil }
        return (words(known) + rest).joined(separator: ", ")
    }

    static func text(_ keys: ContactKeySet) -> String { words(keys).joined(separator: ", ") }

    private static func words(_ known: ContactKeySet) -> [String] {
        let keys = known.subtracting(.groups)
        return properties(keys) + (known == keys ? [] : ["groups"])
    }

    private static let mostMissing = 2

    private static func properties(_ keys: ContactKeySet) -> [String] {
        if keys == .all { return ["everything"] }
        let missing = ContactKeySet.all.subtracting(keys)
        if missing == .named { return ["everything but notes"] }
        // Few words for a long list.
        if missing.keys.count <= mostMissing {
            return ["everything but " + missing.keys.map(\.rawValue).joined(separator: " and ")]
        }
        var words: [String] = []
        var rest = keys
        for (set, word) in [(ContactKeySet.names, "names"), (.images, "pictures")] where keys.isSuperset(of: set) {
            words.append(word)
            rest.subtract(set)
        }
        return words + rest.keys.map(\.rawValue)
    }
}
