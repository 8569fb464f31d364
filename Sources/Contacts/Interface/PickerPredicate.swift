import BrokerJSON
import BrokerModel
import Foundation

/// A predicate for the contact picker. The broker evaluates it, even for contacts that the app may not see.
final class PickerPredicate: NSPredicate, NSSecureCoding {
    struct Rule: Hashable, Sendable {
        var hasKeys: [String] = []
        var minimumCount: [String: Int] = [:]
        var maximumCount: [String: Int] = [:]
        var familyNames: [String]?
        var excludedIdentifiers: [String] = []
        var key: String?
    }

    let rule: Rule

    init(_ rule: Rule) {
        self.rule = rule
        super.init(value: true)
    }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        func write(_ texts: [String]?, _ name: String) {
            if let texts { coder.encode(texts.map { $0 as NSString } as NSArray, forKey: name) }
        }
        func write(_ counts: [String: Int], _ name: String) {
            let counts = counts.sorted { $0.key < $1.key }
            write(counts.flatMap { [$0.key, String($0.value)] }, name)
        }
        write(rule.hasKeys, "hasKeys")
        write(rule.minimumCount, "minimumCount")
        write(rule.maximumCount, "maximumCount")
        write(rule.familyNames, "familyNames")
        write(rule.excludedIdentifiers, "excludedIdentifiers")
        coder.encode(rule.key as NSString?, forKey: "key")
    }

    required convenience init?(coder: NSCoder) {
        func counts(_ name: String) -> [String: Int]? {
            guard let texts = coder.decodeTexts(forKey: name), texts.count.isMultiple(of: 2) else { return nil }
            var counts: [String: Int] = [:]
            for place in stride(from: 0, to: texts.count, by: 2) {
                guard let count = Int(texts[place + 1]) else { return nil }
                counts[texts[place]] = count
            }
            return counts
        }
        guard let hasKeys = coder.decodeTexts(forKey: "hasKeys"), let minimum = counts("minimumCount"),
            let maximum = counts("maximumCount"), let excluded = coder.decodeTexts(forKey: "excludedIdentifiers")
        else { return nil }
        self.init(
            Rule(
                hasKeys: hasKeys, minimumCount: minimum, maximumCount: maximum,
                familyNames: coder.decodeTexts(forKey: "familyNames"),
                excludedIdentifiers: excluded, key: coder.decodeObject(of: NSString.self, forKey: "key") as String?))
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool { (object as? PickerPredicate)?.rule == rule }

    override var hash: Int { rule.hashValue }

    /// Joins two rules with AND; returns `nil` if a single rule cannot express both.
    static func both(_ left: Rule, _ right: Rule) -> Rule? {
        var both = left
        both.hasKeys += right.hasKeys.filter { !left.hasKeys.contains($0) }
        both.minimumCount.merge(right.minimumCount) { max($0, $1) }
        both.maximumCount.merge(right.maximumCount) { min($0, $1) }
        both.excludedIdentifiers += right.excludedIdentifiers
        if let names = right.familyNames { both.familyNames = both.familyNames?.filter(names.contains) ?? names }
        guard left.key == nil || right.key == nil || left.key == right.key else { return nil }
        both.key = left.key ?? right.key
        return both
    }

    /// Writes a predicate as the Varlink type `PickerRule`.
    ///
    /// - Throws: ``CNError/Code/predicateInvalid`` if the predicate is neither a constant nor of this class.
    static func write(_ predicate: NSPredicate?, _ name: String, to writer: inout JSONWriter) throws(CNError) {
        guard let predicate else { return }
        // The constant predicate `true` needs no rule. For `false`, the rule is an empty list of family
        // names, which no contact matches.
        let isPlain = type(of: predicate) == NSPredicate.self
        if isPlain, predicate == NSPredicate(value: true) { return }
        let nobody = isPlain && predicate == NSPredicate(value: false) ? Rule(familyNames: []) : nil
        guard let rule = nobody ?? (predicate as? PickerPredicate)?.rule else {
            throw CNError(
                .predicateInvalid, reason: "the picker accepts only predicates that CNContactPickerViewController makes"
            )
        }
        writer.name(name)
        writer.object { writer in
            if !rule.hasKeys.isEmpty { writer.member("hasKeys", rule.hasKeys) }
            for (name, counts) in [("minimumCount", rule.minimumCount), ("maximumCount", rule.maximumCount)]
            where !counts.isEmpty {
                writer.name(name)
                writer.object { for (key, count) in counts.sorted(by: { $0.key < $1.key }) { $0.member(key, count) } }
            }
            writer.member("familyNames", rule.familyNames)
            if !rule.excludedIdentifiers.isEmpty { writer.member("excludedIdentifiers", rule.excludedIdentifiers) }
            writer.member("key", rule.key)
        }
    }
}

// Predicates that need no format string. None of them takes a block, because a block would see contacts that
// the app may not see. Extensions of this library.
extension CNContactPickerViewController {
    /// Matches contacts that have a value for each of these keys, like the format `emailAddresses.@count > 0`
    /// for one key.
    public class func predicate(havingKeys keys: [String]) -> NSPredicate {
        PickerPredicate(.init(hasKeys: keys))
    }

    /// Matches contacts with this number of values for a key. For example, the range `1...1` for
    /// `phoneNumbers` means `phoneNumbers.@count == 1`.
    public class func predicate(key: String, count: ClosedRange<Int>) -> NSPredicate {
        PickerPredicate(.init(minimumCount: [key: count.lowerBound], maximumCount: [key: count.upperBound]))
    }

    /// Matches contacts with one of these family names, like the format `familyName IN %@`.
    public class func predicate(familyNames: [String]) -> NSPredicate {
        PickerPredicate(.init(familyNames: familyNames))
    }

    /// Matches all contacts except these, like the format `NOT (identifier IN %@)`.
    public class func predicate(excludingIdentifiers identifiers: [String]) -> NSPredicate {
        PickerPredicate(.init(excludedIdentifiers: identifiers))
    }

    /// Matches values of this key, like the format `key == 'emailAddresses'`. Use it for
    /// ``predicateForSelectionOfProperty``.
    public class func predicate(propertyKey key: String) -> NSPredicate {
        PickerPredicate(.init(key: key))
    }

    /// Joins predicates of this class with AND.
    ///
    /// - Throws: ``CNError/Code/predicateInvalid`` if one of them is not of this class, or if they cannot be
    ///   joined.
    public class func predicate(all predicates: [NSPredicate]) throws -> NSPredicate {
        var joined = PickerPredicate.Rule()
        for predicate in predicates {
            guard let rule = (predicate as? PickerPredicate)?.rule, let both = PickerPredicate.both(joined, rule) else {
                throw CNError(
                    .predicateInvalid, reason: "these predicates cannot be joined, or are not the picker's own")
            }
            joined = both
        }
        return PickerPredicate(joined)
    }
}
