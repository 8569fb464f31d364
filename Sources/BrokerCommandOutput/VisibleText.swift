extension Unicode.Scalar {
    /// Whether a terminal shows the character, and shows the text around it as it is. Others can hide text, change its
    /// direction, or control the terminal.
    public var isShown: Bool {
        guard !properties.isDefaultIgnorableCodePoint else { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}

extension Speech {
    /// Returns JSON text with an escape in place of each character that is not shown (``Swift/Unicode/Scalar/isShown``). Its
    /// value is the same, because such characters are allowed only within strings.
    public static func visible(json: String) -> String {
        guard !json.unicodeScalars.allSatisfy(\.isASCII) || json.utf8.contains(0x7F) else { return json }
        var text = ""
        for scalar in json.unicodeScalars {
            guard scalar.value >= 0x7F, !scalar.isShown else {
                text.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return text
    }
}
