import BrokerJSON
import BrokerModel

/// Contacts and groups as a JSON list for scripts, one element per line.
public enum JSONList {
    /// Returns contacts in the format of the Varlink interface.
    public static func contacts(_ contacts: [WireContact]) -> String {
        list(contacts) { $1.write(to: &$0) }
    }

    public static func groups(_ groups: [(identifier: String, name: String, parents: [String])]) -> String {
        list(groups) { writer, group in
            writer.object {
                $0.member("identifier", group.identifier)
                $0.member("name", group.name)
                $0.member("parents", group.parents)
            }
        }
    }

    private static func list<Element>(
        _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) -> String {
        guard !elements.isEmpty else { return "[]" }
        let lines = elements.map { element in
            var writer = JSONWriter()
            write(&writer, element)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        return "[\n" + lines.joined(separator: ",\n") + "\n]"
    }
}
