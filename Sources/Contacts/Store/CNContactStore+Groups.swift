import BrokerInterface
import BrokerJSON
import Foundation

extension CNContactStore {
    func fetchGroups(_ predicate: NSPredicate?) throws -> [CNGroup] {
        guard let predicate else { return try groups { _ in } }
        guard case .groups(let meaning)? = (predicate as? ContactsPredicate)?.meaning else {
            throw CNError(.predicateInvalid, reason: "the predicate must be a single one that CNGroup makes")
        }
        switch meaning {
        case .identifiers(let identifiers): return try groups { $0.member("identifiers", identifiers) }
        case .container(let identifier): return try groups { $0.member("container", identifier) }
        case .subgroups(let parent): return try groups { _ in }.filter { $0.values.parents.contains(parent) }
        }
    }

    private func groups(_ write: (inout JSONWriter) -> Void) throws(CNError) -> [CNGroup] {
        let reply = try Self.ask { () throws(CallFailure) in try BrokerCalls.shared.call(.listGroups, write) }
        return reply["groups"]?.elements?.map { CNGroup(wire: $0) } ?? []
    }

    func fetchContainers(_ predicate: NSPredicate?) throws -> [CNContainer] {
        guard let predicate else { return try containers { _ in }.containers }
        guard case .containers(let meaning)? = (predicate as? ContactsPredicate)?.meaning else {
            throw CNError(
                .predicateInvalid, reason: "the predicate must be a single one that CNContainer makes")
        }
        do throws(CNError) {
            switch meaning {
            case .identifiers(let wanted):
                return try containers { _ in }.containers.filter { wanted.contains($0.identifier) }
            case .contact(let identifier): return try containers { $0.member("contact", identifier) }.containers
            case .group(let identifier): return try containers { $0.member("group", identifier) }.containers
            }
        } catch {
            // An identifier that does not exist matches nothing, as in a fetch of contacts.
            guard error.code == .recordDoesNotExist else { throw error }
            return []
        }
    }

    func containers(
        _ write: (inout JSONWriter) -> Void
    ) throws(CNError) -> (containers: [CNContainer], standard: String?) {
        let reply = try Self.ask { () throws(CallFailure) in try BrokerCalls.shared.call(.listContainers, write) }
        let containers = reply["containers"]?.elements?.map { CNContainer(wire: $0) } ?? []
        return (containers, reply["defaultContainer"]?.string)
    }
}

extension CNGroup {
    /// Decodes the Varlink type `Group`.
    convenience init(wire json: JSONValue) {
        var values = Values(identifier: json["identifier"]?.string ?? "", name: json["name"]?.string ?? "")
        values.container = json["container"]?.string
        values.parents = json["parents"]?.elements?.compactMap(\.string) ?? []
        values.isNamedByOther = json["namedByOther"]?.bool ?? false
        self.init(values)
    }
}

extension CNContainer {
    /// Decodes the Varlink type `Container`.
    convenience init(wire json: JSONValue) {
        let type: CNContainerType =
            switch json["kind"]?.string {
            case "local": .local
            case "exchange": .exchange
            case "cardDAV": .cardDAV
            default: .unassigned
            }
        self.init(identifier: json["identifier"]?.string ?? "", name: json["name"]?.string ?? "", type: type)
    }
}
