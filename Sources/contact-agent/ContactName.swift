import JSON

/// The name under which the person knows a contact.
enum ContactName {
    static func shown(_ contact: JSONValue) -> String {
        func text(_ key: String) -> String? { contact[key]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        let names = ["namePrefix", "givenName", "middleName", "familyName", "nameSuffix"].compactMap(text)
        let organization = text("organizationName")
        let name =
            names.isEmpty || contact["contactType"]?.says("organization") == true && organization != nil
            ? organization ?? text("nickname") : names.joined(separator: " ")
        let shown = ShownText.line(name ?? "")
        return shown.isEmpty ? "(no name)" : shown
    }
}
