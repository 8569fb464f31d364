import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// Parameters of `Connect`.
package struct ConnectParameters: Sendable {
    package let name: String
    package let changes: ChangeRight
    /// Whether an existing connection gets another password.
    package let newPassword: Bool

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        name = try reader.required("name").connectionName()
        changes = try reader["changes"]?.one(of: ChangeRight.self) ?? .edit
        newPassword = try reader.flag("newPassword")
    }
}

/// Parameters of `Disconnect`.
package struct DisconnectParameters: Sendable {
    package let users: UserParameters
    package let name: String

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(one: &reader)
        name = try reader.required("name").connectionName()
    }
}

/// Parameters of `Open` on the socket of the service that speaks CardDAV.
package struct OpenParameters: Sendable {
    package let user: UInt32
    package let name: String
    package let password: String

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        user = try reader.required("user").uid()
        // A name that no connection can have is answered as an unknown one.
        name = try reader.required("name").text(maximum: ParameterLimits.app)
        password = try reader.required("password").text(maximum: ParameterLimits.app)
    }
}

extension Parameter {
    fileprivate func connectionName() throws(VarlinkError) -> String {
        let text = try text(maximum: ParameterLimits.app)
        guard CardDAVConnection.isName(text) else {
            throw AdminError.invalidValue("name", reason: "must be 1 to 32 of the characters a to z, 0 to 9 and -")
        }
        return text
    }
}
