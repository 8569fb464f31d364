import BrokerCommandOutput
import BrokerJSON

/// The JSON that `--json` prints: an object with `version` and the command's members (contactctl(1), JSON OUTPUT).
/// It has values for programs only; no words for people.
enum CommandJSON {
    /// Increases when a member changes its meaning or is removed.
    static let version = 1

    static func print(_ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(reservingCapacity: 1_024)
        writer.object {
            $0.member("version", version)
            write(&$0)
        }
        Swift.print(Speech.visible(json: String(decoding: writer.bytes, as: UTF8.self)))
    }

    /// Writes an array of the broker's objects, without the members that are words for people.
    static func array(
        _ name: String, _ values: [JSONValue], without words: Set<String> = [], _ writer: inout JSONWriter
    ) {
        writer.name(name)
        writer.array(values) { writer, value in
            guard let members = value.members, !words.isEmpty else { return writer.raw(Array(value.text)) }
            writer.object {
                for member in members where !words.contains(member.name.string ?? "") {
                    $0.name(member.name.string ?? "")
                    $0.raw(Array(member.value.text))
                }
            }
        }
    }

    /// Writes grants. `session` is words for people; `sessionLeader` says the same.
    static func grants(_ grants: [AppGrant], _ writer: inout JSONWriter) {
        array("grants", grants.map(\.json), without: ["session"], &writer)
    }
}
