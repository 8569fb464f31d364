/// Labels in the form in which Apple stores them: predefined ones as `_$!<Home>!$_`, anything else as it is.
enum Label {
    static let home = "_$!<Home>!$_"
    static let work = "_$!<Work>!$_"
    static let other = "_$!<Other>!$_"
    static let anniversary = "_$!<Anniversary>!$_"

    /// The label that TYPE means; `nil` where it says nothing of that sort.
    static func ofTypes(_ line: ContentLine) -> String? {
        for (type, label) in standard where line.hasType(type) { return label }
        return custom(line.types)
    }

    /// As ``ofTypes(_:)``, with what only telephones have.
    static func ofPhone(_ line: ContentLine) -> String? {
        if line.hasType("fax") {
            if line.hasType("home") { return "_$!<HomeFAX>!$_" }
            if line.hasType("work") { return "_$!<WorkFAX>!$_" }
            return "_$!<OtherFAX>!$_"
        }
        for (type, label) in phone where line.hasType(type) { return label }
        return ofTypes(line)
    }

    /// What somebody is to somebody else (RFC 6350 §6.6.6); words that Apple has no label for stay as they are.
    static func ofRelation(_ line: ContentLine) -> String? {
        for type in relations where line.hasType(type) {
            return "_$!<\(type.prefix(1).uppercased())\(type.dropFirst())>!$_"
        }
        return custom(line.types)
    }

    private static let standard = [("home", home), ("work", work), ("school", "_$!<School>!$_"), ("other", other)]
    private static let phone = [
        ("iphone", "iPhone"), ("cell", "_$!<Mobile>!$_"), ("mobile", "_$!<Mobile>!$_"), ("main", "_$!<Main>!$_"),
        ("pager", "_$!<Pager>!$_"),
    ]
    private static let relations = [
        "father", "mother", "parent", "brother", "sister", "sibling", "child", "son", "daughter", "friend", "spouse",
        "partner", "assistant", "manager",
    ]
    /// Types that say how something is used, not whose it is.
    private static let noise: Set<String> = [
        "voice", "internet", "pref", "text", "textphone", "msg", "video", "x400", "dom", "intl", "postal", "parcel",
        "bbs", "modem", "isdn", "pcs", "uri", "individual", "jpeg",
    ]

    private static func custom(_ types: [String]) -> String? {
        types.first { !noise.contains(ASCII.lowercased($0)) }.map {
            ASCII.hasPrefix($0, "x-") && $0.utf8.count > 2 ? String($0.dropFirst(2)) : $0
        }
    }
}
