/// Values in base64 of properties that contacts have no field for, such as LOGO, SOUND and KEY. vCard 2.1 and 3.0 write
/// them with ENCODING (RFC 2426 §2.4.1). 4.0 has no ENCODING, so there they are `data:` URIs (RFC 6350 §6.2.4).
enum BinaryValue {
    /// In a card of vCard 4.0, the ENCODING that the property has in other versions.
    static let encodingName = "X-CONTACTBROKER-ENCODING"
    private static let ending = ";base64,"

    static func isBase64(_ encoding: String) -> Bool { ASCII.equal(encoding, "b") || ASCII.equal(encoding, "base64") }

    /// Returns the line as an extra property: with ENCODING only if the value is base64, and without the spaces
    /// that vCard 2.1 puts into it. Any other ENCODING is dropped, because the value is decoded by now.
    static func kept(_ line: ContentLine) -> ContentLine {
        let value = line.storage[line.value]
        if let encoding = line[encodingName] {
            let parameters = line.parameters.filter { $0.name != encodingName && $0.name != "ENCODING" }
            guard isBase64(encoding), ASCII.hasPrefix(String(decoding: value.prefix(5), as: UTF8.self), "data:"),
                let comma = value.firstIndex(of: UInt8(ascii: ",")), isBase64(value[(comma + 1)...]),
                value[...comma].suffix(ending.utf8.count).elementsEqual(ending.utf8)
            else { return line.with(parameters, value) }
            let place = line.parameters.firstIndex { $0.name == encodingName } ?? 0
            let before = line.parameters[..<place].filter { $0.name != "ENCODING" }
            return line.with(
                before + [Parameter("ENCODING", [encoding])] + parameters[before.count...], value[(comma + 1)...])
        }
        guard let encoding = line["ENCODING"] else { return line }
        let data = value.filter { !ASCII.isSpace($0) }[...]
        guard isBase64(encoding), isBase64(data) else {
            return line.with(line.parameters.filter { $0.name != "ENCODING" }, value)
        }
        // Binary is the default of ENCODING=b, and vCard 4.0 does not have it.
        return line.with(
            line.parameters.filter { $0.name != "VALUE" || !ASCII.equal($0.values.first ?? "", "binary") }, data)
    }

    private static func isBase64(_ value: ArraySlice<UInt8>) -> Bool {
        !value.isEmpty && value.allSatisfy { PhotoValue.isBase64($0) || $0 == UInt8(ascii: "=") }
    }

    /// Returns the content line for vCard 4.0 of an extra property with ENCODING; `nil` for any other.
    static func text4(_ line: ContentLine) -> String? {
        let line = kept(line)
        guard let encoding = line["ENCODING"] else { return nil }
        let parameters = line.parameters.map {
            $0.name == "ENCODING" ? Parameter(encodingName, [encoding]) : $0
        }
        let start = Array("data:\(mediaType(line))\(ending)".utf8)
        return line.with(parameters, (start + line.storage[line.value])[...]).text
    }

    /// Returns the media type that the property and its TYPE express.
    private static func mediaType(_ line: ContentLine) -> String {
        let type = ASCII.lowercased(line.types.first { !ASCII.equal($0, "pref") } ?? "")
        let isPlain = type.utf8.allSatisfy { ContentLine.isNameByte($0) || "/+.".utf8.contains($0) }
        if type.contains("/"), isPlain { return type }
        switch line.nameText {
        case "LOGO", "PHOTO": if !type.isEmpty, isPlain { return "image/\(type)" }
        case "SOUND": if !type.isEmpty, isPlain { return "audio/\(type)" }
        case "KEY" where type == "pgp": return "application/pgp-keys"
        case "KEY" where type == "x509": return "application/pkix-cert"
        default: break
        }
        return "application/octet-stream"
    }
}

extension ContentLine {
    /// Returns the line with these parameters and this value.
    func with(_ parameters: [Parameter], _ value: ArraySlice<UInt8>) -> ContentLine {
        ContentLine(head(parameters) + ":" + String(decoding: value, as: UTF8.self), number: number) ?? self
    }

    /// Returns a line of text with another property name, and without ENCODING.
    func renamed(_ name: String) -> ContentLine {
        let parameters = parameters.filter { $0.name != "ENCODING" }.map(\.text).joined()
        let text = (groupText ?? "") + name + parameters + ":" + String(decoding: storage[value], as: UTF8.self)
        return ContentLine(text, number: number) ?? self
    }
}
