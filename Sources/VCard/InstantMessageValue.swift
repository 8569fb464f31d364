import ContactsModel

/// Reads IMPP and the older properties of one messenger each (RFC 6350 §6.4.3, RFC 4770).
enum InstantMessageValue {
    static let properties = [
        "X-AIM": "AIM", "X-JABBER": "Jabber", "X-MSN": "MSN", "X-YAHOO": "Yahoo", "X-ICQ": "ICQ",
        "X-SKYPE": "Skype", "X-SKYPE-USERNAME": "Skype", "X-GOOGLE-TALK": "GoogleTalk", "X-GADUGADU": "GaduGadu",
        "X-QQ": "QQ",
    ]

    /// The service by the parameter first, by the scheme second: Apple's cards say `aim:` for ICQ too.
    private static let schemes = [
        "aim": "AIM", "xmpp": "Jabber", "msnim": "MSN", "ymsgr": "Yahoo", "icq": "ICQ", "skype": "Skype",
        "gg": "GaduGadu", "qq": "QQ", "irc": "IRC", "sip": "SIP",
    ]

    static func read(_ line: ContentLine) -> InstantMessageAddress? {
        var address = InstantMessageAddress()
        let value = ASCII.trimmed(TextValue.unescaped(line.value))
        if let service = properties[line.name] {
            address.username = value
            address.service = service
        } else {
            let colon = value.utf8.firstIndex(of: UInt8(ascii: ":"))
            let scheme = colon.map { ASCII.lowercased(value[..<$0]) }
            address.username = percentDecoded(colon.map { String(value[value.utf8.index(after: $0)...]) } ?? value)
            let ofScheme = scheme.map { schemes[$0] ?? ($0 == "x-apple" ? "" : $0) }
            address.service = line["X-SERVICE-TYPE"] ?? line["SERVICE-TYPE"] ?? ofScheme ?? ""
        }
        return address.username.isEmpty ? nil : address
    }

    /// The same handle written twice, once in the old way: one address.
    static func isSame(_ left: InstantMessageAddress, _ right: InstantMessageAddress) -> Bool {
        ASCII.equal(left.username, right.username) && ASCII.equal(left.service, right.service)
    }

    static func percentDecoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = ASCII.hexadecimal(bytes[index + 1]),
                let low = ASCII.hexadecimal(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(validating: result, as: UTF8.self) ?? text
    }
}
