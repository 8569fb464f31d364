import BrokerModel
import BrokerNormalization

/// The search terms and sort keys of a contact. They are a function of its content and a normalizer's rules.
struct ContactForms: Sendable {
    let names: NameKeys
    /// `key` is the index of the word's property, or ``Match/wholeNameIndex``.
    fileprivate(set) var words: [(word: String, key: Int64)] = []
    /// The beginnings of the words in the names, without duplicates.
    fileprivate(set) var beginnings: [String] = []
    fileprivate(set) var emails: [String] = []
    fileprivate(set) var phones: [(key: PhoneMatchKey, digits: String)] = []
}

/// The sort keys of a contact in both orders.
typealias NameKeys = (givenName: CollationKey, familyName: CollationKey)

/// Makes the forms of contacts. Only one thread at a time may use it, because its normalizer is not
/// thread-safe.
final class FormMaker {
    let normalizer: Normalizer
    private var known = KnownWords()

    /// The keys whose words, addresses or numbers are indexed.
    static let keys = Match.nameKeys.union(ContactKeySet([.emailAddresses, .phoneNumbers]))
    /// The maximum number of words from a contact's e-mail addresses. The limit keeps a long list of
    /// addresses from filling the index.
    private static let wordsOfKey = 4_096

    init(_ normalizer: Normalizer) { self.normalizer = normalizer }

    /// Releases the cache.
    func releaseMemory() { known = KnownWords() }

    func forms(of contact: Contact) -> ContactForms {
        var forms = ContactForms(names: normalizer.collationKeys(of: contact))
        for key in Match.nameKeys.keys {
            guard let text = contact.text(of: key), !text.isEmpty else { continue }
            for word in known.words(of: text, normalizer) { forms.append(word, ofName: Int64(key.index)) }
        }
        for word in normalizer.wholeNameWords(familyName: contact.familyName, givenName: contact.givenName) {
            forms.append(word, ofName: Match.wholeNameIndex)
        }
        let key = Int64(ContactKey.emailAddresses.index)
        let others = forms.words.count
        for email in contact.emailAddresses {
            if let key = EmailMatchKey(email.value, normalizer) { forms.emails.append(key.text) }
            for word in normalizer.storedWords(email.value).words
            where forms.words.count - others < Self.wordsOfKey {
                forms.words.append((word, key))
            }
        }
        for phone in contact.phoneNumbers {
            guard let key = PhoneMatchKey(phone.value, normalizer) else { continue }
            forms.phones.append((key, PhoneDigits(phone.value)?.reversed ?? ""))
        }
        return forms
    }
}

extension ContactForms {
    fileprivate mutating func append(_ word: String, ofName index: Int64) {
        words.append((word, index))
        let letters = Beginning.letters(of: word)
        // A linear search is enough, because there are only a few beginnings.
        if !beginnings.contains(letters) { beginnings.append(letters) }
    }
}

/// A cache of the words in non-ASCII names. The same names recur, and transliterating a name into Latin
/// letters takes longer than writing its words.
private struct KnownWords {
    private static let most = 1_024
    private static let longest = 64
    /// The keys are bytes, because Swift treats canonically equivalent strings as equal.
    private var words: [[UInt8]: [String]] = [:]

    mutating func words(of text: String, _ normalizer: Normalizer) -> [String] {
        guard text.utf8.count <= Self.longest, !text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return normalizer.storedWords(text).words
        }
        let bytes = Array(text.utf8)
        if let known = words[bytes] { return known }
        if words.count >= Self.most { words.removeAll() }
        let made = normalizer.storedWords(text).words
        words[bytes] = made
        return made
    }
}
