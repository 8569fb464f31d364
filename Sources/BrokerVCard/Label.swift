import BrokerModel

/// Maps labels to vCard types. Predefined labels are in Apple's stored form, `_$!<Home>!$_`; any other label is plain
/// text.
enum Label {
    /// The kind of value. A type can mean different things for a phone number and for a relation.
    enum Kind {
        case phone, email, address, relation, other
    }

    /// One label, and the types that express it.
    private struct Meaning {
        let label: String
        /// All of these must be present.
        let types: [String]
        /// Further types that the label implies and that need not be kept.
        var alike: [String] = []
        /// The types to write in vCard 3.0 and 4.0; `nil` if the label itself is written.
        var written3: [String]?
        var written4: [String]?

        func isSaid(by types: [String]) -> Bool {
            self.types.allSatisfy { own in types.contains { ASCII.equal($0, own) } }
        }

        func understands(_ type: String) -> Bool {
            types.contains { ASCII.equal($0, type) } || alike.contains { ASCII.equal($0, type) }
        }
    }

    /// The first match takes precedence.
    private static let ofPhone = [
        Meaning(
            label: PredefinedLabel.homeFax, types: ["fax", "home"], alike: ["homefax"], written3: ["HOME", "FAX"],
            written4: ["home", "fax"]),
        Meaning(label: PredefinedLabel.homeFax, types: ["homefax"], alike: ["fax", "home"]),
        Meaning(
            label: PredefinedLabel.workFax, types: ["fax", "work"], alike: ["workfax"], written3: ["WORK", "FAX"],
            written4: ["work", "fax"]),
        Meaning(label: PredefinedLabel.workFax, types: ["workfax"], alike: ["fax", "work"]),
        Meaning(
            label: PredefinedLabel.otherFax, types: ["fax"], alike: ["other"], written3: ["OTHER", "FAX"],
            written4: ["fax"]),
        Meaning(
            label: PredefinedLabel.iPhone, types: ["iphone"], alike: ["cell"], written3: ["IPHONE", "CELL", "VOICE"]),
        Meaning(
            label: PredefinedLabel.mobile, types: ["cell"], alike: ["mobile"], written3: ["CELL", "VOICE"],
            written4: ["cell"]),
        Meaning(label: PredefinedLabel.mobile, types: ["mobile"], alike: ["cell"]),
        Meaning(label: PredefinedLabel.main, types: ["main"], alike: ["main-number"], written3: ["MAIN"]),
        Meaning(label: PredefinedLabel.main, types: ["main-number"], alike: ["main"], written4: ["main-number"]),
        Meaning(label: PredefinedLabel.pager, types: ["pager"], written3: ["PAGER"], written4: ["pager"]),
    ]
    private static let ofHomeAndWork = [
        Meaning(label: PredefinedLabel.home, types: ["home"], written3: ["HOME"], written4: ["home"]),
        Meaning(label: PredefinedLabel.work, types: ["work"], written3: ["WORK"], written4: ["work"]),
        Meaning(label: PredefinedLabel.school, types: ["school"]),
    ]
    private static let ofAll =
        ofHomeAndWork + [
            Meaning(label: PredefinedLabel.other, types: ["other"]),
            Meaning(label: PredefinedLabel.homePage, types: ["homepage"]),
        ]
    private static let ofTelephones =
        ofPhone + ofHomeAndWork + [Meaning(label: PredefinedLabel.other, types: ["other"], written3: ["OTHER"])]
    private static let ofAddresses =
        ofHomeAndWork + [Meaning(label: PredefinedLabel.other, types: ["other"], written3: ["OTHER"])]
    /// RFC 6350 §6.6.6 defines types for the last five. Apple's programs have labels for the others.
    private static let ofRelations =
        ["Father", "Mother", "Brother", "Sister", "Son", "Daughter", "Partner", "Assistant", "Manager"].map {
            Meaning(label: PredefinedLabel.relation($0), types: [$0])
        }
        + ["Parent", "Sibling", "Child", "Friend", "Spouse"].map {
            Meaning(label: PredefinedLabel.relation($0), types: [$0], written4: [$0.lowercased()])
        }

    private static func meanings(_ kind: Kind) -> [Meaning] {
        switch kind {
        case .phone: ofTelephones
        case .address: ofAddresses
        case .relation: ofRelations
        case .email, .other: ofAll
        }
    }

    /// Types that describe the use or format of a value. They never become a label.
    private static let noise: Set<String> = [
        "voice", "internet", "pref", "text", "textphone", "msg", "video", "x400", "dom", "intl", "postal", "parcel",
        "bbs", "modem", "isdn", "pcs", "uri", "individual", "jpeg",
    ]

    /// Returns the label that the types express; `nil` if none of them is a label. A type without a
    /// predefined label becomes a label itself.
    static func of(_ types: [String], _ kind: Kind) -> String? {
        guard !types.isEmpty else { return nil }
        for meaning in meanings(kind) where meaning.isSaid(by: types) { return meaning.label }
        return types.first { !noise.contains(ASCII.lowercased($0)) }.map(custom)
    }

    private static func custom(_ type: String) -> String {
        ASCII.hasPrefix(type, "x-") && type.utf8.count > 2 ? String(type.dropFirst(2)) : type
    }

    /// Returns the types that carry meaning and that the label does not express.
    static func leftOver(_ types: [String], label: String?, _ kind: Kind) -> [String] {
        var left: [String] = []
        // A label of Android's can have commas, which a list of types cannot.
        let types = types.flatMap { type in
            !type.utf8.contains(UInt8(ascii: ",")) || ASCII.equal(custom(type), label ?? "")
                ? [type] : type.split(separator: ",").map { ASCII.trimmed($0) }.filter { !$0.isEmpty }
        }
        for type in types {
            switch kind {
            // Default types (RFC 2426 §3.3.1, §3.3.2).
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

    /// Returns the types that express the label; `nil` if this version of vCard has no types for it.
    static func types(for label: String, _ kind: Kind, _ version: VCardVersion) -> [String]? {
        for meaning in meanings(kind) where meaning.label == label {
            if let types = version == .v4_0 ? meaning.written4 : meaning.written3 { return types }
        }
        return nil
    }
}
