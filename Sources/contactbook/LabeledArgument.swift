import ArgumentParser
import BrokerCommandOutput
import BrokerFormatting
import BrokerModel

/// A value with a label before a colon: `mobile:+44 20 7946 0000`, or without: `+44 20 7946 0000`.
struct LabeledArgument: ExpressibleByArgument, Hashable {
    let label: String?
    let value: String

    init?(argument: String) {
        // What has a colon of its own is no label: `https://…`, `12:30`.
        if let colon = argument.firstIndex(of: ":"), !argument[argument.index(after: colon)...].hasPrefix("//") {
            let word = String(argument[..<colon])
            // Those that Apple's programs know by a name of theirs, in the person's language; others as they are.
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
