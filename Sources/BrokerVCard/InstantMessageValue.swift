import BrokerModel

/// Reads and writes IMPP (RFC 6350 §6.4.3, RFC 4770), and the older properties, each of which serves a single
/// messenger.
enum InstantMessageValue {
    static let properties: [Property: String] = [
        .aim: "AIM", .jabber: "Jabber", .msn: "MSN", .yahoo: "Yahoo", .icq: "ICQ", .skype: "Skype",
        .skypeUsername: "Skype", .googleTalk: "GoogleTalk", .gaduGadu: "GaduGadu", .qq: "QQ",
    ]

    /// The service for each scheme. A service parameter takes precedence, because Apple's cards use `aim:`
    /// for ICQ too.
    static let schemes = [
        "aim": "AIM", "xmpp": "Jabber", "msnim": "MSN", "ymsgr": "Yahoo", "icq": "ICQ", "skype": "Skype",
        "gg": "GaduGadu", "qq": "QQ", "irc": "IRC", "sip": "SIP", "sips": "SIP",
    ]

    /// The schemes that Apple's programs write, and the property that older programs and Android read.
    private static let written: [String: (scheme: String, property: Property?)] = [
        "AIM": ("aim", .aim), "ICQ": ("aim", .icq), "MSN": ("msnim", .msn), "Yahoo": ("ymsgr", .yahoo),
        "Skype": ("skype", .skypeUsername), "Jabber": ("xmpp", .jabber), "GoogleTalk": ("xmpp", .googleTalk),
        "Facebook": ("xmpp", nil), "GaduGadu": ("x-apple", .gaduGadu), "QQ": ("x-apple", .qq), "IRC": ("irc", nil),
        "SIP": ("sip", nil),
    ]

    /// Apple's scheme for services that have no scheme of their own. Only Apple's programs are known to use
    /// it.
    private static let noScheme = "x-apple"

    static func read(_ line: ContentLine) -> InstantMessageAddress? {
        var address = InstantMessageAddress()
        let value = line.valueText
        if let service = properties[line.property] {
            address.username = value
            address.service = service
        } else {
            let colon = value.utf8.firstIndex(of: UInt8(ascii: ":"))
            let written = colon.map { String(value[..<$0]) }
            let scheme = written.map { ASCII.lowercased($0) }
            let rest = colon.map { String(value[value.utf8.index(after: $0)...]) } ?? value
            address.username = ASCII.trimmed(percentDecoded(rest))
            let ofScheme = scheme.map { schemes[$0] ?? ($0 == noScheme ? "" : written ?? "") }
            address.service = line["X-SERVICE-TYPE"] ?? line["SERVICE-TYPE"] ?? ofScheme ?? ""
        }
        return address.username.isEmpty ? nil : address
    }

    /// Whether two addresses have the same service and user name, for example one from IMPP and one from an
    /// older property.
    static func isSame(_ left: InstantMessageAddress, _ right: InstantMessageAddress) -> Bool {
        ASCII.equal(left.username, right.username) && ASCII.equal(left.service, right.service)
    }

    /// Returns the address as a URI.
    static func uri(_ address: InstantMessageAddress) -> String {
        let scheme = written[address.service]?.scheme ?? ownScheme(address.service) ?? noScheme
        return scheme + ":" + percentEncoded(address.username)
    }

    /// Returns the service if it has the form of a scheme and is not in ``schemes``, because ``read(_:)``
    /// stores an unknown scheme as the service.
    private static func ownScheme(_ service: String) -> String? {
        guard let first = service.utf8.first, (0x61...0x7A).contains(first), schemes[service] == nil,
            service.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            })
        else { return nil }
        return service
    }

    /// Returns the property in which older programs expect the address; `nil` if there is none.
    static func olderProperty(_ address: InstantMessageAddress) -> Property? { written[address.service]?.property }

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
        // Percent-encoding must not introduce control characters, which the decoder removes from plain text.
        guard let decoded = String(validating: result, as: UTF8.self),
            !decoded.unicodeScalars.contains(where: { $0 != "\n" && TextDecoder.isControl($0) })
        else { return text }
        return decoded
    }

    /// Percent-encodes all bytes except letters, digits and most of the punctuation that a URI may contain
    /// (RFC 3986 §2).
    static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch ASCII.upper(byte) {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~@+:/?=&!$'()*".utf8.contains(byte)
        }
    }
}
