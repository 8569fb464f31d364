/// Labels in the form in which Apple stores them: predefined ones as `_$!<Home>!$_`, anything else as it is; and the
/// types of vCard that mean the same.
enum Label {
    static let home = "_$!<Home>!$_"
    static let work = "_$!<Work>!$_"
    static let other = "_$!<Other>!$_"
    static let anniversary = "_$!<Anniversary>!$_"

    /// What a property's values are: types mean different things for a telephone and for a relation.
    enum Kind {
        case phone, email, address, relation, other
    }

    /// One label, and the types that say it. A class, since many are looked at for each value.
    private final class Meaning: Sendable {
        let label: String
        /// All of these must be there; in lower case.
        let types: [String]
        /// What else is understood by it, and need not be kept.
        let alike: [String]
        /// What is written in vCard 3.0 and 4.0; `nil` where the label itself is.
        let written3: [String]?
        let written4: [String]?

        init(
            label: String, types: [String], alike: [String] = [], written3: [String]? = nil,
            written4: [String]? = nil
        ) {
            self.label = label
            self.types = types
            self.alike = alike
            self.written3 = written3
            self.written4 = written4
        }

        func isSaid(by types: [String]) -> Bool {
            self.types.allSatisfy { own in types.contains { ASCII.equal($0, own) } }
        }

        func understands(_ type: String) -> Bool {
            types.contains { ASCII.equal($0, type) } || alike.contains { ASCII.equal($0, type) }
        }
    }

    /// The first that fits is meant.
    private static let ofPhone = [
        Meaning(
            label: "_$!<HomeFAX>!$_", types: ["fax", "home"], alike: ["homefax"], written3: ["HOME", "FAX"],
            written4: ["home", "fax"]),
        Meaning(label: "_$!<HomeFAX>!$_", types: ["homefax"], alike: ["fax", "home"]),
        Meaning(
            label: "_$!<WorkFAX>!$_", types: ["fax", "work"], alike: ["workfax"], written3: ["WORK", "FAX"],
            written4: ["work", "fax"]),
        Meaning(label: "_$!<WorkFAX>!$_", types: ["workfax"], alike: ["fax", "work"]),
        Meaning(
            label: "_$!<OtherFAX>!$_", types: ["fax"], alike: ["other"], written3: ["OTHER", "FAX"],
            written4: ["fax"]),
        Meaning(label: "iPhone", types: ["iphone"], alike: ["cell"], written3: ["IPHONE", "CELL", "VOICE"]),
        Meaning(
            label: "_$!<Mobile>!$_", types: ["cell"], alike: ["mobile"], written3: ["CELL", "VOICE"],
            written4: ["cell"]),
        Meaning(label: "_$!<Mobile>!$_", types: ["mobile"], alike: ["cell"]),
        Meaning(label: "_$!<Main>!$_", types: ["main"], alike: ["main-number"], written3: ["MAIN"]),
        Meaning(label: "_$!<Main>!$_", types: ["main-number"], alike: ["main"], written4: ["main-number"]),
        Meaning(label: "_$!<Pager>!$_", types: ["pager"], written3: ["PAGER"], written4: ["pager"]),
    ]
    private static let ofHomeAndWork = [
        Meaning(label: home, types: ["home"], written3: ["HOME"], written4: ["home"]),
        Meaning(label: work, types: ["work"], written3: ["WORK"], written4: ["work"]),
        Meaning(label: "_$!<School>!$_", types: ["school"]),
    ]
    private static let ofAll =
        ofHomeAndWork + [
            Meaning(label: other, types: ["other"]), Meaning(label: "_$!<HomePage>!$_", types: ["homepage"]),
        ]
    private static let ofTelephones =
        ofPhone + ofHomeAndWork + [Meaning(label: other, types: ["other"], written3: ["OTHER"])]
    private static let ofAddresses = ofHomeAndWork + [Meaning(label: other, types: ["other"], written3: ["OTHER"])]
    /// RFC 6350 §6.6.6 has the last five of these; Apple's programs have labels for the rest.
    private static let ofRelations =
        ["father", "mother", "brother", "sister", "son", "daughter", "partner", "assistant", "manager"].map {
            Meaning(label: predefined($0), types: [$0])
        }
        + ["parent", "sibling", "child", "friend", "spouse"].map {
            Meaning(label: predefined($0), types: [$0], written4: [$0])
        }

    private static func predefined(_ word: String) -> String {
        "_$!<\(ASCII.uppercased(word.prefix(1)))\(word.dropFirst())>!$_"
    }

    private static func meanings(_ kind: Kind) -> [Meaning] {
        switch kind {
        case .phone: ofTelephones
        case .address: ofAddresses
        case .relation: ofRelations
        case .email, .other: ofAll
        }
    }

    /// Types that say how something is used, not whose it is.
    private static let noise: Set<String> = [
        "voice", "internet", "pref", "text", "textphone", "msg", "video", "x400", "dom", "intl", "postal", "parcel",
        "bbs", "modem", "isdn", "pcs", "uri", "individual", "jpeg",
    ]

    /// The label that the types mean; `nil` where they say nothing of that sort. A word that Apple has no label for is
    /// a label as it stands.
    static func of(_ types: [String], _ kind: Kind) -> String? {
        guard !types.isEmpty else { return nil }
        for meaning in meanings(kind) where meaning.isSaid(by: types) { return meaning.label }
        return types.first { !noise.contains(ASCII.lowercased($0)) }.map(custom)
    }

    private static func custom(_ type: String) -> String {
        ASCII.hasPrefix(type, "x-") && type.utf8.count > 2 ? String(type.dropFirst(2)) : type
    }

    /// Those of the types that the label does not say, and that mean something.
    static func leftOver(_ types: [String], label: String?, _ kind: Kind) -> [String] {
        var left: [String] = []
        for type in types {
            switch kind {
            // What every one is that says nothing (RFC 2426 §3.3.1, §3.3.2).
            case .phone where ASCII.equal(type, "voice"): continue
            case .email where ASCII.equal(type, "internet"): continue
            case .phone, .email, .address, .relation, .other: break
            }
            if ASCII.equal(type, "pref") || left.contains(where: { ASCII.equal($0, type) }) { continue }
            if let label {
                if ASCII.equal(custom(type), label) { continue }
                if meanings(kind).contains(where: { $0.label == label && $0.understands(type) }) { continue }
            }
            left.append(type)
        }
        return left
    }

    /// How the label is written as types; `nil` where there are none for it in this version.
    static func types(for label: String, _ kind: Kind, _ version: VCardVersion) -> [String]? {
        for meaning in meanings(kind) where meaning.label == label {
            if let types = version == .v4_0 ? meaning.written4 : meaning.written3 { return types }
        }
        return nil
    }
}
