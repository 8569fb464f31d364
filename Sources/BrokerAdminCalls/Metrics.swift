import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerVarlink

/// Measures calls, and describes the broker in numbers for `GetMetrics`. The numbers never name a user, an app or a
/// contact. It lives on the event loop.
package final class Metrics: UsesServices {
    package let services: BrokerServices
    private let startedAt: Int64
    /// By qualified method.
    private var durations: [String: Durations] = [:]

    private struct Durations {
        /// The upper bounds of the buckets, in microseconds. A call that waits for the person takes longer.
        static let bounds: [Int64] = [500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000, 10_000_000]
        /// How many calls took at most as long as each bound, and longer than the one before.
        var counts = [Int](repeating: 0, count: bounds.count + 1)
        var sum: Int64 = 0

        mutating func add(_ duration: Int64) {
            counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
            sum += duration
        }
    }

    package init(services: BrokerServices) {
        self.services = services
        startedAt = services.seconds
    }

    /// Measures the time from now to the call's final reply.
    package func begin(_ call: Call) {
        let start = services.surroundings.uptime()
        call.onFinal = { [weak self, method = call.method] in self?.ended(method, after: start) }
    }

    private func ended(_ method: String, after start: Int64) {
        let time = max(0, services.surroundings.uptime() - start)
        if let known = durations.index(forKey: method) {
            durations.values[known].add(time)
        } else if Self.isKnown(method) {
            // A caller can invent names of methods, so only known ones are counted.
            durations[method, default: Durations()].add(time)
        }
    }

    private static func isKnown(_ method: String) -> Bool {
        let (interface, name) = parts(method)
        return switch ContactsInterface.allCases.first(where: { $0.name == interface }) {
        case .contacts: ContactsMethod(rawValue: name) != nil
        case .agent: AgentMethod(rawValue: name) != nil
        case .admin: AdminMethod(rawValue: name) != nil
        case .cardDAV: CardDAVMethod(rawValue: name) != nil
        case nil: false
        }
    }

    private static func parts(_ method: String) -> (interface: String, name: String) {
        let dot = method.lastIndex(of: ".") ?? method.startIndex
        return (String(method[..<dot]), String(method[dot...].dropFirst()))
    }

    // MARK: Text

    /// All numbers in Prometheus' text format.
    package func text() -> String {
        var text = MetricsText()
        text.add("info", .gauge, "The version of the broker.", [([("version", Release.version)], 1)])
        text.add("start_time_seconds", .gauge, "When the broker started, since 1970.", startedAt)
        let levels = Dictionary(grouping: access.principals) { access.grant(of: $0)?.access.status }
        text.add(
            "grants", .gauge, "Grants and denials by level.",
            [AuthorizationStatus.denied, .limited, .full].map { ([("level", $0.rawValue)], levels[$0]?.count ?? 0) })
        text.add(
            "events_total", .counter, "Events by kind and by the level after them, as in the audit, since the start.",
            access.audit.eventCounts.sorted {
                ($0.key.event.rawValue, $0.key.status?.rawValue ?? "") < (
                    $1.key.event.rawValue, $1.key.status?.rawValue ?? ""
                )
            }
            .map { ([("event", $0.key.event.rawValue), ("level", $0.key.status?.rawValue ?? "")], $0.value) })
        text.add("audit_records", .gauge, "The number of the last audit record.", access.audit.last.sequence)
        text.add("prompts_open", .gauge, "Prompts that wait for a person.", prompts.openCount(nil))
        text.add("agents", .gauge, "Agents that can show prompts.", prompts.agentCount(nil))
        text.add("saves_waiting", .gauge, "Saves that wait or are being written.", saves.waitingCount)
        if let use = surroundings.socketUse() {
            text.add("connections", .gauge, "Open connections.", use.connections)
            text.add("connections_limit", .gauge, "The most connections that can be open.", use.connectionsLimit)
            text.add("held_bytes", .gauge, "Bytes of calls and replies in memory.", use.heldBytes)
            text.add("held_bytes_limit", .gauge, "The most such bytes.", use.heldBytesLimit)
        }
        text.add("users_connected", .gauge, "Users with a connection.", Set(sessions.all.map(\.caller.uid)).count)
        text.add("policy_rules", .gauge, "Rules of the policy in force.", grants.policy.policy.rules.count)
        text.add(
            "every_app_refused", .gauge, "1 while the policy or the settings have a mistake.",
            grants.policy.policy.problem == nil ? 0 : 1)
        addDurations(&text)
        return text.text
    }

    private func addDurations(_ text: inout MetricsText) {
        text.begin("call_duration_seconds", .histogram, "From a call to its final reply, by method.")
        for (method, durations) in durations.sorted(by: { $0.key < $1.key }) {
            let (interface, name) = Self.parts(method)
            let labels = [("interface", String(interface.split(separator: ".").last ?? "")), ("method", name)]
            var count = 0
            for (bound, found) in zip(Durations.bounds.map(MetricsText.seconds) + ["+Inf"], durations.counts) {
                count += found
                text.sample("call_duration_seconds_bucket", labels + [("le", bound)], "\(count)")
            }
            text.sample("call_duration_seconds_sum", labels, MetricsText.seconds(durations.sum))
            text.sample("call_duration_seconds_count", labels, "\(count)")
        }
    }
}

/// Builds Prometheus' text format (prometheus.io, Exposition formats). All labels are the broker's own words, without
/// quotes, backslashes or line feeds.
private struct MetricsText {
    enum Kind: String { case counter, gauge, histogram }

    private(set) var text = ""

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [([(String, String)], Int)]) {
        begin(name, kind, help)
        for (labels, value) in samples { sample(name, labels, "\(value)") }
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
        begin(name, kind, help)
        sample(name, [], "\(value)")
    }

    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP contactbroker_\(name) \(help)\n# TYPE contactbroker_\(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: String) {
        let labels = labels.map { "\($0)=\"\($1)\"" }.joined(separator: ",")
        text += "contactbroker_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value)\n"
    }

    /// Microseconds as seconds.
    static func seconds(_ microseconds: Int64) -> String {
        let fraction = String(1_000_000 + microseconds % 1_000_000).dropFirst()
        return "\(microseconds / 1_000_000).\(fraction)"
    }
}
