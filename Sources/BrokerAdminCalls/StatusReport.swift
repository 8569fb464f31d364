import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerVarlink
import Dispatch

/// Reports the broker's status to administrators.
struct StatusReport: UsesServices {
    let services: BrokerServices
    private let startedAt: Int64

    init(services: BrokerServices) {
        self.services = services
        startedAt = services.surroundings.now()
    }

    /// Replies with the status. In system mode, the counts cover all users if `isWhole` is `true`, and
    /// otherwise only the caller's user.
    func answer(_ call: Call, _ session: CallerSession, isWhole: Bool) {
        let uid: UInt32? = isWhole ? (surroundings.mode == .session ? surroundings.ownUID : nil) : session.caller.uid
        let folder = surroundings.stateFolder
        let inForce = grants.policy.policy.digest
        // Only administrators can do something about files that nobody has loaded.
        surroundings.loop.run(on: Self.reading) {
            [digest = surroundings.policyDigest, read = surroundings.readPolicy] in
            let differs = isWhole && digest() != inForce
            let unloaded = differs ? read().problem : nil
            return (books: Self.books(of: uid, in: folder), differs: differs, unloaded: unloaded)
        } then: { found in
            let found = found.get()
            answer(
                call, session, isWhole: isWhole, state(differs: found.differs), uid, books: found.books,
                unloaded: found.unloaded)
        }
    }

    /// - Parameter differs: whether the policy files are not those of the rules in force.
    private func state(differs: Bool) -> String {
        guard grants.policy.policy.problem == nil else { return "refusing" }
        return differs || grants.policy.rejected != nil ? "outdated" : "serving"
    }

    /// A separate queue, because the users' queues may be busy with saves.
    private static let reading = DispatchQueue(label: "status", qos: .utility)

    /// Returns the size of the user's book, or the sizes of all books if `uid` is `nil`. Leaves out books
    /// that cannot be read; the broker reports such a problem when it opens the book. Do not call this on the
    /// event loop, because it reads files.
    private static func books(of uid: UInt32?, in folder: String) -> [(uid: UInt32, size: Int64)] {
        (uid.map { [$0] } ?? Books.users(in: folder)).compactMap { uid in
            (try? BookSize.read(folder: Books.folder(of: uid, in: folder))).flatMap(\.self).map { (uid, $0) }
        }
    }

    /// - Parameter unloaded: the mistake of policy files that are not those of the rules in force.
    private func answer(
        _ call: Call, _ session: CallerSession, isWhole: Bool, _ state: String, _ uid: UInt32?,
        books: [(uid: UInt32, size: Int64)], unloaded: Policy.Problem?
    ) {
        let connections = isWhole ? sessions.all.count : sessions.all.count { $0.caller.uid == session.caller.uid }
        let problem = problems.last.flatMap { isWhole || $0.uid == session.caller.uid ? $0 : nil }
        call.reply {
            $0.name("status")
            $0.object {
                $0.member("state", state)
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
                $0.member("grants", access.principals(of: uid).count)
                if isWhole { $0.member("auditRecords", access.audit.last.sequence) }
                write(books, isWhole: uid == nil, &$0)
                if let problem {
                    $0.member("lastProblem", problem.words)
                    $0.member("lastProblemAt", Timestamp.text(seconds: problem.time))
                }
                if !surroundings.policyFolder.isEmpty { $0.member("policyFolder", surroundings.policyFolder) }
                $0.member("policyRules", grants.policy.policy.rules.count)
                $0.member("policyLoadedAt", Timestamp.text(seconds: grants.policy.loadedAt))
                if let problem = grants.policy.policy.problem {
                    describe(problem, "every app is refused", isWhole: isWhole, &$0)
                } else if let problem = unloaded ?? grants.policy.rejected {
                    describe(problem, "the former rules stay in force", isWhole: isWhole, &$0)
                }
                for (name, value) in surroundings.facts { $0.member(name, value) }
            }
        }
    }

    /// - Parameter isWhole: whether `books` are the books of all users.
    private func write(_ books: [(uid: UInt32, size: Int64)], isWhole: Bool, _ writer: inout JSONWriter) {
        let bounds = services.limits.space
        if isWhole || !books.isEmpty {
            writer.member("addressBookMB", Int(SpaceWords.megabytes(books.reduce(0) { $0 + $1.size })))
        }
        writer.member("addressBookLimitMB", Int(SpaceWords.megabytes(bounds.book)))
        writer.member("addressBookLimitPerAppMB", Int(SpaceWords.megabytes(bounds.app)))
        guard isWhole else { return }
        writer.name("addressBooks")
        let largest = books.sorted { $0.size > $1.size }.prefix(services.limits.booksInStatus)
        writer.array(largest) { writer, book in
            writer.object {
                $0.member("uid", Int(book.uid))
                $0.member("MB", Int(SpaceWords.megabytes(book.size)))
            }
        }
    }

    /// - Parameter isWhole: whether the caller may see file paths.
    private func describe(
        _ problem: Policy.Problem, _ effect: String, isWhole: Bool, _ writer: inout JSONWriter
    ) {
        writer.member(
            problem.subject.rawValue + "Problem",
            isWhole ? "\(effect): \(problem.reason); \(problem.advice(in: surroundings.mode))" : effect)
    }
}
