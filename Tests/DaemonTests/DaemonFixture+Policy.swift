import BrokerJSON
import BrokerVarlinkClient
import Glibc

/// The administrator's part of the fixture.
extension DaemonFixture {
    var policyFolder: String { configuration + "/policy.d" }

    /// Writes a policy file, which takes effect with the next reload.
    func write(policy text: String, to name: String = "10-test.toml") throws {
        for folder in [configuration, policyFolder] where access(folder, F_OK) != 0 {
            guard mkdir(folder, 0o700) == 0 else { throw Trouble("no folder for the policy") }
        }
        try Self.write(Array(text.utf8), to: policyFolder + "/" + name)
    }

    /// Reloads the policy. Returns the number of rules in force, or why the policy cannot be read.
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

    /// Writes this policy and reloads it.
    func rule(_ text: String) throws {
        try write(policy: text)
        let said = try reload()
        guard Int(said) != nil else { throw Trouble(said) }
    }

    /// The broker's status by member name.
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
