import BrokerModel

/// Converts labels between the word that a person types (`home`) and the stored form. Predefined labels are
/// stored in Apple's form (`_$!<Home>!$_`).
public enum LabelWord {
    /// Returns the stored form of a label: Apple's form for a predefined label, the label itself for any
    /// other, and `nil` for an empty one.
    public static func stored(_ word: String) -> String? {
        guard !word.isEmpty else { return nil }
        return predefined[word.lowercased()] ?? word
    }

    /// Returns the word for a stored label; `nil` for no label.
    public static func word(_ label: String?) -> String? {
        guard let label else { return nil }
        if let word = words[label] { return word }
        guard label.hasPrefix("_$!<"), label.hasSuffix(">!$_"), label.utf8.count > 8 else { return label }
        return label.dropFirst(4).dropLast(4).lowercased()
    }

    /// Returns the stored form of a label in a CSV file. Google marks preferred values with a star; some
    /// writers omit the space in `home fax`.
    static func stored(ofCSV label: String) -> String? {
        let word = RowReading.cleaned(label.hasPrefix("*") ? String(label.dropFirst()) : label)
        switch word.lowercased() {
        case "homefax": return predefined["home fax"]
        case "workfax": return predefined["work fax"]
        case "home page": return predefined["homepage"]
        default: return stored(word)
        }
    }

    private static let predefined = general.merging(relations) { first, _ in first }

    private static let general = [
        "home": PredefinedLabel.home, "work": PredefinedLabel.work, "other": PredefinedLabel.other,
        "school": PredefinedLabel.school, "mobile": PredefinedLabel.mobile, "main": PredefinedLabel.main,
        "pager": PredefinedLabel.pager, "iphone": PredefinedLabel.iPhone, "home fax": PredefinedLabel.homeFax,
        "work fax": PredefinedLabel.workFax, "other fax": PredefinedLabel.otherFax,
        "homepage": PredefinedLabel.homePage, "anniversary": PredefinedLabel.anniversary,
    ]

    /// Relations that occur in other products' files. Their words are Apple's names in lower case.
    private static let relations = Dictionary(
        uniqueKeysWithValues: [
            "Spouse", "Partner", "Father", "Mother", "Parent", "Child", "Son", "Daughter", "Brother", "Sister",
            "Sibling",
            "Friend", "Assistant", "Manager",
        ].map { ($0.lowercased(), PredefinedLabel.relation($0)) })

    private static let words = Dictionary(uniqueKeysWithValues: predefined.map { ($0.value, $0.key) })
}
