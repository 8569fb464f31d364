import BrokerJSON
import BrokerVarlink

/// Serves `org.varlink.certification`. A client calls Start, Test01 to Test11 and End, each with the result of the call
/// before it. The replies show whether both ends implement the same Varlink.
final class Certification {
    /// The method that each client must call next.
    private var nextMethod: [String: String] = [:]
    private var clients = 0
    private let service: ServiceInterface

    init() throws(InterfaceError) {
        service = try ServiceInterface(
            vendor: "contactbroker", product: "Certification", version: "1", url: "https://varlink.org",
            interfaces: [Self.interface])
    }

    func answer(_ call: Call) {
        guard !service.answer(call) else { return }
        let name = String(call.name)
        if name == "Start" {
            clients += 1
            let client = "client-\(clients)"
            nextMethod[client] = "Test01"
            return call.reply { $0.member("client_id", client) }
        }
        guard let client = call.parameters["client_id"]?.string, let expected = nextMethod[client] else {
            return call.fail(VarlinkError("org.varlink.certification.ClientIdError"))
        }
        guard name == expected, let step = Self.steps.first(where: { $0.method == name }) else {
            return fail(call, client, wants: #"{"method":"\#(expected)"}"#)
        }
        guard let wants = try? JSONDocument(parsing: Array(step.wants.utf8)).root, given(call, wants) else {
            return fail(call, client, wants: step.wants)
        }
        guard call.more == (name == "Test10"), call.oneway == (name == "Test11") else {
            return fail(call, client, wants: step.wants)
        }
        nextMethod[client] = step.next
        if name == "Test10" {
            for number in 1...10 {
                call.reply(continues: number < 10) { $0.member("string", "Reply number \(number)") }
            }
        } else {
            call.reply(Array(step.reply.utf8))
        }
    }

    private func fail(_ call: Call, _ client: String, wants: String) {
        nextMethod[client] = nil
        call.fail(
            VarlinkError("org.varlink.certification.CertificationError") {
                $0.name("wants")
                $0.raw(wants.utf8)
                $0.name("got")
                $0.raw(call.parameters.text)
            })
    }

    /// Whether the call has these parameters and its client's name, and no others.
    private func given(_ call: Call, _ wants: JSONValue) -> Bool {
        guard let members = call.parameters.members, let wanted = wants.members else { return false }
        for (name, value) in members where !name.says("client_id") {
            guard let other = wants[name.string ?? ""], same(value, other) else { return false }
        }
        for (name, value) in wanted where !value.isNull {
            guard call.parameters[name.string ?? ""] != nil else { return false }
        }
        return true
    }

    /// Whether two values are equal. In objects an absent member equals null.
    private func same(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left.kind, right.kind) {
        case (.null, .null): return true
        case (.bool, .bool): return left.bool == right.bool
        case (.integer, .integer): return left.integer == right.integer
        case (.integer, .double), (.double, .integer), (.double, .double): return left.double == right.double
        case (.string, .string): return left.string == right.string
        case (.array, .array):
            guard let lefts = left.elements, let rights = right.elements, left.count == right.count else {
                return false
            }
            return zip(lefts, rights).allSatisfy { same($0, $1) }
        case (.object, .object):
            return contains(left, right) && contains(right, left)
        default: return false
        }
    }

    private func contains(_ object: JSONValue, _ other: JSONValue) -> Bool {
        guard let members = other.members else { return false }
        for (name, value) in members where !value.isNull {
            guard let mine = object[name.string ?? ""], same(mine, value) else { return false }
        }
        return true
    }
}
