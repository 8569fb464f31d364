import ArgumentParser
import BrokerCommandOutput
import BrokerFormatting
import BrokerModel

/// A value with an optional label before a colon: `mobile:+44 20 7946 0000` or `+44 20 7946 0000`.
struct LabeledArgument: ExpressibleByArgument, Hashable {
    let label: String?
    let value: String

    init?(argument: String) {
        // A URL such as `https://…` has no label.
        if let colon = argument.firstIndex(of: ":"), !argument[argument.index(after: colon)...].hasPrefix("//") {
            let word = String(argument[..<colon])
            // Predefined labels can be given in the person's language; other labels are stored unchanged.
            label = word.isEmpty ? nil : PersonLocale.names.stored(label: word) ?? word
            value = String(argument[argument.index(after: colon)...])
        } else {
            label = nil
            value = argument
        }
        guard !Speech.clean(value).isEmpty else { return nil }
    }

    var labeledString: LabeledString { LabeledString(label: label, value: value) }
}
