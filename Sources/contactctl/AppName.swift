import BrokerCommandOutput
import BrokerFormatting
import BrokerModel

/// How an app is shown: by its name, and by what identifies it.
///
/// An app chooses its name, so a name alone tells nothing. The identity is a path or an identifier that no other
/// app has, and it is written so that two identities never look alike. Both are written as words that can be pasted into a
/// shell.
struct AppName {
    /// The broker's identifier of the app.
    let app: String
    /// The name that the app or its manifest gives, or the file name of its executable; quoted for a shell.
    let name: String
    /// The path of the executable or the app's identifier, as the broker has it.
    let place: String
    /// The SHA-256 of the executable in hexadecimal digits; `nil` if the identifier has none.
    let hash: String?

    /// - Parameter displayName: `nil` if only the identifier is known, as in an audit record.
    init(_ app: String, displayName: String? = nil) {
        self.app = app
        // `PATH sha256:HEX`. The path may have any character, so only the last space ends it.
        var place = app
        var hash: String?
        if let space = app.lastIndex(of: " "), app[space...].hasPrefix(" sha256:") {
            place = String(app[..<space])
            hash = String(app[space...].dropFirst(" sha256:".count))
        }
        self.place = place
        self.hash = hash
        let file = place.split(separator: "/").last.map(String.init) ?? place
        name = displayName.map(Self.shown) ?? Self.quoted(place.hasPrefix("/") ? file : place)
    }

    /// Returns a name as one line, quoted for a shell. In a name that could be mistaken for something else, code points
    /// replace what misleads.
    private static func shown(_ name: String) -> String {
        let line = DisplayText.line(name)
        return Lookalike(line) == nil ? ShellWord.quoted(line) : quoted(line)
    }

    /// The place, quoted for a shell, without characters that could mislead.
    var identity: String { Self.quoted(place) }

    /// The place with the beginning of the hash, which tells versions of one executable apart.
    var placeAndHash: String { hash.map { "\(place) #\($0.prefix(8))" } ?? place }

    /// The same, as ``identity`` is written.
    var identityAndHash: String { Self.quoted(placeAndHash) }

    /// The name and the identity in one text.
    var full: String { name == identity ? name : "\(name) (\(identity))" }

    /// Returns the identities of a list's apps. Apps whose name and identity are equal get the hash, too.
    static func identities(_ names: [AppName]) -> [String] {
        let apps = Dictionary(grouping: names, by: \.full).mapValues { Set($0.map(\.app)) }
        return names.map { apps[$0.full]?.count == 1 ? $0.identity : $0.identityAndHash }
    }

    /// Returns the names of a list's apps. Apps of one name get their identity instead.
    static func words(_ names: [AppName]) -> [String] {
        let apps = Dictionary(grouping: names, by: \.name).mapValues { Set($0.map(\.app)) }
        return zip(names, identities(names)).map { apps[$0.name]?.count == 1 ? $0.name : $1 }
    }

    /// The columns of a table for the name and the identity.
    ///
    /// - Parameter importance: that of the identity's column.
    static func columns(importance: Int) -> [Table.Column] {
        [
            // Cut in the middle, a quoted name keeps both quotes.
            Table.Column("APP", narrowest: 16, losesMiddle: true),
            Table.Column("PATH OR IDENTIFIER", importance: importance, narrowest: 20, losesMiddle: true),
        ]
    }

    /// Returns a text as it is if it is a plain word for a shell. Otherwise puts it in single quotes, and writes any
    /// character but spaces, visible ASCII and Latin-1 letters as `\u{…}`. A letter of another script may look like a
    /// Latin one.
    static func quoted(_ text: String) -> String {
        // A record without an app names none.
        guard !text.isEmpty else { return "" }
        var wasSpace = false
        return ShellWord.quoted(text) { scalar in
            // Of several spaces only the first would stay on the screen.
            defer { wasSpace = scalar == " " }
            return scalar == " " && !wasSpace || (0x21...0x7E).contains(scalar.value)
                || (0xC0...0xFF).contains(scalar.value) && scalar.value != 0xD7 && scalar.value != 0xF7
        }
    }
}
