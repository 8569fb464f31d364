import BrokerJSON
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
        let reply = try administratorAnswer("ReloadPolicy")
        switch reply.error {
        case nil: return "\(reply["rules"]?.integer ?? -1)"
        case "InvalidValue": return reply["reason"]?.string ?? ""
        case let name?: throw Trouble(name)
        }
    }

    /// Calls the administrator's socket from a process of the broker's own user. The broker of an ordinary user refuses
    /// this process, which is root.
    private func administratorAnswer(_ method: String) throws -> Answer {
        defer { end("one call") }
        let companion = try companion("one call")
        return try companion.open(adminSocket).call("io.contactbroker.Admin." + method)
    }

    /// Writes this policy and reloads it.
    func rule(_ text: String) throws {
        try write(policy: text)
        let said = try reload()
        guard Int(said) != nil else { throw Trouble(said) }
    }

    /// The broker's status by member name.
    func status() throws -> [String: String] {
        let status = try administratorAnswer("GetStatus")["status"]
        var found: [String: String] = [:]
        for member in status?.members.map(Array.init) ?? [] {
            let value = member.value
            found[member.name.string ?? ""] = value.string ?? String(decoding: value.text, as: UTF8.self)
        }
        return found
    }
}
