import BrokerVarlink

/// The interfaces, one for each socket: for apps, for agents, for administrators, and for the service that speaks CardDAV.
///
/// Their texts are the files under `Interfaces`, which the broker serves unchanged.
public enum ContactsInterface: CaseIterable, Sendable {
    case contacts, agent, admin, cardDAV

    public var name: String {
        switch self {
        case .contacts: "io.contactbroker.Contacts"
        case .agent: "io.contactbroker.Agent"
        case .admin: "io.contactbroker.Admin"
        case .cardDAV: "io.contactbroker.CardDAV"
        }
    }

    public var description: InterfaceDescription {
        let text =
            switch self {
            case .contacts: PackageResources.io_contactbroker_Contacts_varlink
            case .agent: PackageResources.io_contactbroker_Agent_varlink
            case .admin: PackageResources.io_contactbroker_Admin_varlink
            case .cardDAV: PackageResources.io_contactbroker_CardDAV_varlink
            }
        return InterfaceDescription(name: name, text: String(decoding: text, as: UTF8.self))
    }

    /// Creates the `org.varlink.service` interface for this interface's socket.
    public func service() throws(InterfaceError) -> ServiceInterface {
        // On the socket for CardDAV, `Open` makes a connection that of an app.
        let interfaces = self == .cardDAV ? [description, Self.contacts.description] : [description]
        return try ServiceInterface(
            vendor: "contactbroker", product: "contactbrokerd", version: Release.version, url: "",
            interfaces: interfaces)
    }
}

/// The release that this code belongs to.
public enum Release {
    public static let version = "0.1.0"
}
