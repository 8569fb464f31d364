/// A property of a written card, parsed independently of the reader. This parser understands only our writer's cards.
struct WrittenProperty: CustomStringConvertible {
    let group: String
    let name: String
    /// Each parameter with its values, in lower case.
    let parameters: [String]
    let value: String
    /// The label of the property's group.
    var label = ""

    var description: String { "\(group).\(name) \(parameters) \(value) “\(label)”" }

    static func all(_ card: [UInt8]) -> [WrittenProperty] {
        let text = String(decoding: card, as: UTF8.self).replacing("\r\n ", with: "")
        var properties = text.split(separator: "\r\n").map { line in
            var isQuoted = false
            let colon = line.firstIndex { character in
                if character == "\"" { isQuoted.toggle() }
                return character == ":" && !isQuoted
            }
            let head = line[..<(colon ?? line.endIndex)].split(separator: ";")
            let names = head[0].split(separator: ".")
            return WrittenProperty(
                group: names.count > 1 ? String(names[0]) : "", name: String(names[names.count - 1]),
                parameters: head.dropFirst().map { $0.lowercased() },
                value: String(line[(colon ?? line.endIndex)...].dropFirst()))
        }
        for index in properties.indices where !properties[index].group.isEmpty {
            let group = properties[index].group
            properties[index].label = properties.first { $0.group == group && $0.name == "X-ABLabel" }?.value ?? ""
        }
        return properties
    }

    /// Whether TYPE or the label has this value.
    func says(_ type: String) -> Bool {
        let types = parameters.filter { $0.hasPrefix("type=") }.flatMap {
            $0.dropFirst(5).replacing("\"", with: "").split(separator: ",").map(String.init)
        }
        let meant = label.lowercased().replacing("_$!<", with: "").replacing(">!$_", with: "")
        return types.contains(type) || meant == type || "x-" + meant == type
            || type.hasSuffix("fax") && types.contains("fax") || type == "mobile" && types.contains("cell")
            || types.contains(where: { $0.hasPrefix(type) && type.contains("=") })
    }
}
