import BrokerJSON
import BrokerVarlinkClient
import Glibc

/// The administrator of a house.
extension House {
    var policyFolder: String { configuration + "/policy.d" }

    /// Writes a file of the policy; it holds once it is reloaded.
    func write(policy text: String, to name: String = "10-test.toml") throws {
        for folder in [configuration, policyFolder] where access(folder, F_OK) != 0 {
            guard mkdir(folder, 0o700) == 0 else { throw Trouble("no folder for the policy") }
        }
        try Self.write(Array(text.utf8), to: policyFolder + "/" + name)
    }

    /// Has the policy read anew. Returns how many rules are in force, or why it cannot be read.
    @discardableResult
    func reload() throws -> String {
        do {
            let reply = try administrator().call("io.contactbroker.Admin.ReloadPolicy")
            return "\(reply["rules"]?.integer ?? -1)"
        } catch VarlinkClientError.error(let name, let parameters) {
            guard name == "io.contactbroker.Admin.InvalidValue" else { throw Trouble(name) }
            return parameters["reason"]?.string ?? ""
        }
    }

    /// Lets this policy hold.
    func rule(_ text: String) throws {
        try write(policy: text)
        let said = try reload()
        guard Int(said) != nil else { throw Trouble(said) }
    }

    /// The broker's status, member by member.
    func status() throws -> [String: String] {
        let status = try administrator().call("io.contactbroker.Admin.GetStatus")["status"]
        var found: [String: String] = [:]
        for member in status?.members.map(Array.init) ?? [] {
            let value = member.value
            found[member.name.string ?? ""] = value.string ?? String(decoding: value.text, as: UTF8.self)
        }
        return found
    }
}
