import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCore
import BrokerInterface
import BrokerLedger
import BrokerManifests
import BrokerPeerIdentity
import BrokerPolicy
import BrokerSystem
import BrokerThumbnails
import BrokerVarlink
import BrokerVarlinkServer
import Glibc
import Logging

/// The broker and its sockets. This class lives on the event loop.
final class ServedBroker {
    private let broker: Broker
    private let setting: Setting
    private var serverLimits = ServerLimits()
    /// Shared by all sockets.
    private let budget = ServerBudget()
    private var servers: [VarlinkServer] = []
    /// Whether a socket has failed.
    private(set) var hasFailed = false

    /// - Parameter failed: called if a socket fails. The daemon must end after that.
    init(
        _ setting: Setting, settings: Settings, loop: EventLoop, evidence: any EvidenceSource,
        facts: HostFacts, log: Logger, failed: @escaping @Sendable () -> Void
    ) throws {
        self.setting = setting
        let access: AccessStore
        do throws(AccessStoreError) {
            access = try AccessStore.open(folder: setting.state, now: Clock.now())
        } catch {
            throw Failure(error, folder: setting.state)
        }
        let watch = BindingWatch(loop: loop)
        var surroundings = Surroundings(
            loop: loop, now: Clock.now, uptime: Clock.uptime, stateFolder: setting.state, ownUID: getuid(),
            userName: userName, watch: { binding, ended in watch.begin(binding, ended) },
            areKin: { left, right in Kinship.isKin(left, of: right) },
            facts: facts.described, log: { message in log.warning("\(message)") })
        surroundings.mode = setting.mode
        surroundings.notice = { notice, message, facts in log.report(notice, message, facts) }
        surroundings.region = settings.region ?? ProcessLocale.telephoneRegion
        surroundings.language = settings.language ?? ProcessLocale.collation
        if settings.auditGoesToJournal {
            surroundings.auditKeeper = try AuditJournal(Journaling.open())
            if let warning = AuditJournal.takeOverPosition(in: setting.state, access) { log.warning("\(warning)") }
        }
        if let program = ThumbnailProgram.nextToThisOne {
            surroundings.makeThumbnail = { program.thumbnail(of: $0) }
        }
        if setting.mode == .system {
            surroundings.installedApps = {
                let (manifests, problems) = ManifestFolder().read()
                // An app whose manifest cannot be read may be installed.
                return problems.isEmpty ? manifests.apps : nil
            }
        }
        // If the settings cannot be read, the broker refuses every app and does not read the rules.
        surroundings.readPolicy = {
            settings.problem.map { Policy(unreadable: Policy.Problem(.settings, "\($0)")) }
                ?? setting.configuration.policy()
        }
        surroundings.policyDigest = { setting.configuration.digest() }
        surroundings.parsePolicy = { Policy(reading: $0) }
        switch setting.mode {
        case .session:
            surroundings.withoutAuthentication = settings.withoutAuthentication
            surroundings.inspectFolder = FolderInspection.inspect
        case .system:
            surroundings.withoutAuthentication = settings.withoutAuthentication ?? .refuse
            surroundings.authority = PolkitAuthority(loop: loop)
            surroundings.hasLoginSession = KnownUsers.hasLoginSession
        }
        surroundings.policyFolder = setting.configuration.path
        surroundings.mayLookUpContacts = settings.mayLookUpContacts
        surroundings.limits.closesBooksAfter = settings.closesBooksAfter
        surroundings.limits.retention = RetentionBounds(days: settings.auditDays, bytes: settings.auditSize)
        surroundings.limits.setSpace(book: settings.addressBookSize, perApp: settings.addressBookSizePerApp)
        serverLimits.connectionsPerUser = settings.connectionsPerUser
        serverLimits.connectionsPerApp = settings.connectionsPerApp
        surroundings.socketUse = { [budget, serverLimits] in
            SocketUse(
                connections: budget.connectionCount,
                connectionsLimit: ContactsInterface.allCases.count * serverLimits.connections,
                heldBytes: budget.heldBytes, heldBytesLimit: budget.bytes)
        }
        let users = KnownUsers(state: setting.state)
        surroundings.isUser = users.contains
        broker = Broker(surroundings: surroundings, access: access)
        do {
            let manifests = setting.manifests(log)
            let complaints = Complaints(loop: loop, log: log)
            let inspections = CallerInspections(setting.mode, users: users, loop: loop)
            for interface in ContactsInterface.allCases where setting.places[interface] != nil {
                servers.append(try open(interface, loop, evidence, manifests, complaints, inspections, log, failed))
            }
        } catch {
            close()
            throw Failure("could not start: \(error)", tryThis: setting.adviceWhereSocketFails)
        }
    }

    /// Opens the book of the session's user before the first request.
    func prepare() {
        if setting.mode == .session { broker.openBook(of: getuid()) }
    }

    private func open(
        _ interface: ContactsInterface, _ loop: EventLoop, _ evidence: any EvidenceSource,
        _ manifests: AppManifests, _ complaints: Complaints, _ inspections: CallerInspections, _ log: Logger,
        _ failed: @escaping @Sendable () -> Void
    ) throws -> VarlinkServer {
        guard let place = setting.places[interface] else {
            throw Failure("no address for the socket of \(interface.name)")
        }
        let broker = self.broker
        let service = try interface.service()
        let reception = Reception(
            interface: interface, setting: setting, broker: broker, loop: loop, source: evidence,
            manifests: manifests, complaints: complaints, inspections: inspections)
        let admit: VarlinkServer.Admit = { peer, decide in reception.admit(peer, decide) }
        let onCall: (Call) -> Void = { call in if !service.answer(call) { broker.answer(call) } }
        let onClose: (any Connection, CloseReason) -> Void = { connection, reason in
            if case .foreignBytes(let writer, let user, let owner) = reason {
                complaints.report(
                    of: user,
                    """
                    closed a connection of process \(owner) to \(interface.name): process \(writer) of user \(user) \
                    wrote to it
                    """, [("uid", "\(user)"), ("pid", "\(writer)"), ("socket", interface.name)])
            }
            if let fault = reason.fault, let caller = (connection.context as? CallerSession)?.caller {
                complaints.report(
                    of: caller.uid,
                    "closed a connection of process \(caller.process.pid) to \(interface.name): \(fault)",
                    [("uid", "\(caller.uid)"), ("pid", "\(caller.process.pid)"), ("socket", interface.name)])
            }
            broker.closed(connection)
        }
        let server = try VarlinkServer(
            at: place, loop: loop, limits: serverLimits, budget: budget, isKnown: inspections.users.contains,
            admit: admit, onCall: onCall, onClose: onClose)
        server.onFailure = { [weak self] reason in
            log.report(.socketFailed, "the socket of \(interface.name) failed: \(reason)", [("socket", interface.name)])
            self?.hasFailed = true
            failed()
        }
        return server
    }

    /// Reloads the policy, and calls `done` once the new policy is in force.
    func reload(_ done: @escaping () -> Void) { broker.reloadPolicy { _ in done() } }

    /// The number of connections, in words.
    var status: String {
        let count = budget.connectionCount
        return "\(count) connection\(count == 1 ? "" : "s")"
    }

    /// Closes every connection and then the stores, so that no reply is sent after the stores are closed.
    func close() {
        for server in servers { server.close() }
        broker.close()
    }
}

extension Setting {
    /// The manifests of installed programs; empty in session mode. Only the system's broker can verify that a
    /// program is the one that a manifest names.
    fileprivate func manifests(_ log: Logger) -> AppManifests {
        guard mode == .system else { return AppManifests() }
        let (manifests, problems) = ManifestFolder().read()
        for problem in problems { log.warning("problem in a manifest: \(problem)") }
        return manifests
    }

    fileprivate var adviceWhereSocketFails: String {
        switch mode {
        case .session: "another broker may be running; name other folders with --runtime-dir and --state-dir"
        case .system: "systemctl restart 'contactbroker-*.socket' contactbroker.service"
        }
    }
}

extension CloseReason {
    /// The limit that was exceeded, or what else the caller did wrong; `nil` if the connection was closed for a
    /// different reason.
    fileprivate var fault: String? {
        switch self {
        case .appHasTooManyConnections: "its app has as many connections as one app may have"
        case .gaveWay: "another program of its user needed one, and its app has the most"
        case .appHoldsTooMuch: "its user's unfinished and waiting calls take too much memory, its app's the most"
        case .userHoldsTooMuch: "its user's unread replies take too much memory, its app's the most"
        case .userHoldsMost: "all users' calls and replies take too much memory, its user's the most"
        case .sentDescriptors: "it sent file descriptors, which no call takes"
        case .peerClosed, .closedByOwner, .refused, .frameTooLong, .unfinishedFrame, .peerDoesNotRead,
            .replyTooLong, .withdrawn, .foreignBytes, .failed:
            nil
        }
    }
}

/// Reads a user's entry in the user database; `nil` if there is none.
func userEntry<Value>(of uid: UInt32, _ read: (passwd) -> Value?) -> Value? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let size = buffer.count
    return getpwuid_r(uid, &entry, &buffer, size, &found) == 0 ? found.flatMap { read($0.pointee) } : nil
}

/// The user's name, or the user ID if it has no name.
@Sendable
func userName(_ uid: UInt32) -> String {
    userEntry(of: uid) { $0.pw_name.map { String(cString: $0) } } ?? "\(uid)"
}

extension Failure {
    init(_ error: AccessStoreError, folder: String) {
        switch error {
        case .removed, .unavailable:
            self.init(
                "could not start: the access database in \(folder) cannot be used: \(error)",
                tryThis: "make sure that you can write to it, and that the disk has free space")
        case .damaged(let reason):
            self.init(
                "could not start: the access database in \(folder) is damaged and was left as it is: \(reason)",
                tryThis: "restore access.sqlite from a backup, or move it away to start without grants")
        case .newerSchema:
            self.init(
                "could not start: the access database in \(folder) was written by a later contactbrokerd",
                tryThis: "install that version again, or name another folder with --state-dir")
        case .inUse:
            self.init(
                "could not start: another broker serves \(folder)",
                tryThis: "stop it first, or name another folder with --state-dir")
        }
    }
}
