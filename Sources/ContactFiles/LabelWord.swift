/// Labels as people say and type them, and as contacts store them (Apple's form: `_$!<Home>!$_`).
public enum LabelWord {
    /// The form in which a label is stored: predefined ones as Apple's programs know them, others as they are.
    public static func stored(_ word: String) -> String? {
        guard !word.isEmpty else { return nil }
        return predefined[word.lowercased()] ?? word
    }

    /// The label as a person says it.
    public static func word(_ label: String?) -> String? {
        guard let label else { return nil }
        if let word = words[label] { return word }
        guard label.hasPrefix("_$!<"), label.hasSuffix(">!$_"), label.utf8.count > 8 else { return label }
        return label.dropFirst(4).dropLast(4).lowercased()
    }

    /// A star marks Google's preferred value; some writers leave the space out.
    static func stored(ofCSV label: String) -> String? {
        let word = RowReading.cleaned(label.hasPrefix("*") ? String(label.dropFirst()) : label)
        switch word.lowercased() {
        case "homefax": return predefined["home fax"]
        case "workfax": return predefined["work fax"]
        case "home page": return predefined["homepage"]
        default: return stored(word)
        }
    }

    private static let predefined = [
        "home": "_$!<Home>!$_", "work": "_$!<Work>!$_", "other": "_$!<Other>!$_", "school": "_$!<School>!$_",
        "mobile": "_$!<Mobile>!$_", "main": "_$!<Main>!$_", "pager": "_$!<Pager>!$_", "iphone": "iPhone",
        "home fax": "_$!<HomeFAX>!$_", "work fax": "_$!<WorkFAX>!$_", "other fax": "_$!<OtherFAX>!$_",
        "homepage": "_$!<HomePage>!$_", "anniversary": "_$!<Anniversary>!$_", "spouse": "_$!<Spouse>!$_",
        "partner": "_$!<Partner>!$_", "father": "_$!<Father>!$_", "mother": "_$!<Mother>!$_",
        "parent": "_$!<Parent>!$_", "child": "_$!<Child>!$_", "son": "_$!<Son>!$_", "daughter": "_$!<Daughter>!$_",
        "brother": "_$!<Brother>!$_", "sister": "_$!<Sister>!$_", "sibling": "_$!<Sibling>!$_",
        "friend": "_$!<Friend>!$_", "assistant": "_$!<Assistant>!$_", "manager": "_$!<Manager>!$_",
    ]
    private static let words = Dictionary(uniqueKeysWithValues: predefined.map { ($0.value, $0.key) })
}
