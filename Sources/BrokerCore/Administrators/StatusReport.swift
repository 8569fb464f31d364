import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Reports the broker's status to administrators.
struct StatusReport {
    let surroundings: Surroundings
    let access: AccessStore
    let grants: Grants
    let prompts: Prompts
    let sessions: Sessions
    let problems: StoreProblems
    let startedAt: Int64

    /// Replies with the status. In system mode, the counts cover all users if `isWhole` is `true`, and
    /// otherwise only the caller's user.
    func answer(_ call: Call, _ session: CallerSession, isWhole: Bool) {
        let uid: UInt32? = isWhole ? (surroundings.mode == .session ? surroundings.ownUID : nil) : session.caller.uid
        let connections = isWhole ? sessions.all.count : sessions.all.count { $0.caller.uid == session.caller.uid }
        let problem = problems.last.flatMap { isWhole || $0.uid == session.caller.uid ? $0 : nil }
        call.reply {
            $0.name("status")
            $0.object {
                $0.member("version", Release.version)
                $0.member("mode", surroundings.mode.rawValue)
                $0.member("startedAt", Timestamp.text(seconds: startedAt / 1_000_000))
                $0.member("stateFolder", surroundings.stateFolder)
                $0.member("connections", connections)
                if isWhole, let use = surroundings.socketUse() {
                    $0.member("openConnections", use.connections)
                    $0.member("openConnectionsLimit", use.connectionsLimit)
                    $0.member("heldBytes", use.heldBytes)
                    $0.member("heldBytesLimit", use.heldBytesLimit)
                }
                $0.member("agents", prompts.agentCount(uid))
                $0.member("promptsOpen", prompts.openCount(uid))
                $0.member("grants", access.principals.count { uid == nil || $0.uid == uid })
                if isWhole { $0.member("auditRecords", access.auditCount) }
                if let problem {
                    $0.member("lastProblem", problem.words)
                    $0.member("lastProblemAt", Timestamp.text(seconds: problem.time))
                }
                if !surroundings.policyFolder.isEmpty { $0.member("policyFolder", surroundings.policyFolder) }
                $0.member("policyRules", grants.policy.policy.rules.count)
                $0.member("policyLoadedAt", Timestamp.text(seconds: grants.policy.loadedAt))
                if let problem = grants.policy.policy.problem { describe(problem, isWhole: isWhole, &$0) }
                for (name, value) in surroundings.facts { $0.member(name, value) }
            }
        }
    }

    /// - Parameter isWhole: whether the caller may see file paths.
    private func describe(_ problem: Policy.Problem, isWhole: Bool, _ writer: inout JSONWriter) {
        let refused = "every app is refused"
        writer.member(
            problem.subject.rawValue + "Problem",
            isWhole ? "\(refused): \(problem.reason); \(problem.advice(in: surroundings.mode))" : refused)
    }
}
