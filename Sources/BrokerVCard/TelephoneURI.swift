/// A telephone number as a URI: `tel:+47-55-50-00-01;ext=12` (RFC 3966), `sms:` (RFC 5724), or the older `fax:` and
/// `modem:` (RFC 2806).
package struct TelephoneURI {
    /// The number as a person reads it, with its extension: `+47-55-50-00-01 ext. 12`.
    package let number: String
    /// The URI's other parameters, which belong to the number: `X-TEL-ISUB=1411`.
    package private(set) var parameters: [Parameter] = []
    /// Whether this is an address of SIP (RFC 3261), which is no number.
    package let isSIP: Bool

    private static let schemes = ["tel:", "sms:", "smsto:", "mms:", "mmsto:", "callto:", "fax:", "modem:"]
    private static let mostSchemes = 8

    /// - Parameter text: a value of TEL; `nil` unless it begins with one of the schemes.
    package init?(_ text: String) {
        if ["sip:", "sips:"].contains(where: { ASCII.hasPrefix(text, $0) }) {
            (number, isSIP) = ("", true)
            return
        }
        isSIP = false
        var text = text
        var isURI = false
        // Some writers repeat the scheme. Each time copies the text, so there is a bound.
        for _ in 0..<Self.mostSchemes {
            guard let scheme = Self.schemes.first(where: { ASCII.hasPrefix(text, $0) }) else { break }
            text = ASCII.trimmed(text.dropFirst(scheme.utf8.count))
            isURI = true
        }
        guard isURI else { return nil }
        // The text of a message follows a question mark.
        let parts = text.prefix { $0 != "?" }.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        var number = Self.decoded(parts[0])
        var ending = ""
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let (name, value) = (ASCII.uppercased(ASCII.trimmed(pair[0])), pair.count > 1 ? Self.decoded(pair[1]) : "")
            switch name {
            case "EXT" where !value.isEmpty: ending = " ext. \(value)"
            // A number that is unique within others that begin alike.
            case "PHONE-CONTEXT" where value.hasPrefix("+") && !number.hasPrefix("+"): number = "\(value)-\(number)"
            case _ where !name.isEmpty && name.utf8.allSatisfy(ContentLine.isNameByte):
                parameters.append(Parameter("X-TEL-\(name)", [value]))
            default: break
            }
        }
        self.number = number.isEmpty ? "" : number + ending
    }

    private static func decoded(_ text: String) -> String { ASCII.trimmed(InstantMessageValue.percentDecoded(text)) }
}
