import ArgumentParser
import CommandOutput
import ContactsModel

/// A value with a label before a colon: `mobile:+44 20 7946 0000`, or without: `+44 20 7946 0000`.
struct LabeledArgument: ExpressibleByArgument, Hashable {
    let label: String?
    let value: String

    init?(argument: String) {
        // What has a colon of its own is no label: `https://…`, `12:30`.
        if let colon = argument.firstIndex(of: ":"), !argument[argument.index(after: colon)...].hasPrefix("//") {
            label = Self.stored(String(argument[..<colon]))
            value = String(argument[argument.index(after: colon)...])
        } else {
            label = nil
            value = argument
        }
        guard !Speech.clean(value).isEmpty else { return nil }
    }

    var labeledString: LabeledString { LabeledString(label: label, value: value) }

    /// The form in which labels are stored: those that Apple's programs know by a name of theirs, others as they are.
    static func stored(_ label: String) -> String? {
        guard !label.isEmpty else { return nil }
        if let predefined = predefined.first(where: { $0.word == label.lowercased() }) { return predefined.stored }
        return label
    }

    /// The label as a person says it.
    static func word(_ label: String?) -> String? {
        guard let label else { return nil }
        if let predefined = predefined.first(where: { $0.stored == label }) { return predefined.word }
        guard label.hasPrefix("_$!<"), label.hasSuffix(">!$_"), label.count > 8 else { return label }
        return label.dropFirst(4).dropLast(4).lowercased()
    }

    private static let predefined: [(word: String, stored: String)] = [
        ("home", "_$!<Home>!$_"), ("work", "_$!<Work>!$_"), ("other", "_$!<Other>!$_"), ("school", "_$!<School>!$_"),
        ("mobile", "_$!<Mobile>!$_"), ("main", "_$!<Main>!$_"), ("pager", "_$!<Pager>!$_"), ("iphone", "iPhone"),
        ("home fax", "_$!<HomeFAX>!$_"), ("work fax", "_$!<WorkFAX>!$_"), ("other fax", "_$!<OtherFAX>!$_"),
        ("homepage", "_$!<HomePage>!$_"), ("anniversary", "_$!<Anniversary>!$_"),
    ]
}
