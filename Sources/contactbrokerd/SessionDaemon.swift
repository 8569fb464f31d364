import AccessControl
import AccessStore
import Broker
import CSQLite
import ContactsInterface
import Dispatch
import Glibc
import Logging
import PeerIdentity
import Policy
import Varlink
import VarlinkServer

/// The broker of one user's session: opens the stores and the three doors, and serves until it is told to stop.
struct SessionDaemon {
    let folders: SessionFolders
    private let log = Journal.logger()

    init(folders: SessionFolders) {
        self.folders = folders
    }

    /// Serves until SIGTERM or SIGINT.
    func run() throws {
        _ = csqlite_without_memory_account()
        try folders.make()
        raiseDescriptorLimit()
        let collector: EvidenceCollector
        do throws(PeerError) {
            collector = try EvidenceCollector()
        } catch {
            throw Failure("could not start: callers cannot be identified: \(error)")
        }
        // Whoever starts the broker mostly waits for its first answer: what that needs is read side by side.
        DispatchQueue(label: "preparation").async { collector.prepare() }
        let facts = HostFacts.read()
        sayWhatIsNotProtected(facts)

        let loop = try startLoop()
        let stop = DispatchSemaphore(value: 0)
        let signals = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in stop.signal() }
            source.resume()
            return source
        }
        defer { for source in signals { source.cancel() } }

        let folders = self.folders
        let log = self.log
        let running = try loop.run {
            let house = try SessionHouse(folders: folders, loop: loop, collector: collector, facts: facts, log: log) {
                stop.signal()
            }
            return LoopBound(house, loop: loop)
        }
        log.info("serving \(userName(getuid())) at \(folders.runtime)")
        stop.wait()
        log.info("stopping")
        try loop.run { running.value.close() }
        loop.stop()
    }

    private func startLoop() throws(Failure) -> EventLoop {
        do throws(EventLoopError) {
            return try EventLoop()
        } catch {
            throw Failure("could not start: no event loop: \(error)")
        }
    }

    /// Each connection is a descriptor, and so is each pidfd: the usual soft limit of 1,024 is one user's share.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private func sayWhatIsNotProtected(_ facts: HostFacts) {
        log.notice(
            """
            session mode: the databases are files of this user, so any program of this user that is not in a sandbox \
            can read them, answer prompts and pass for another one
            """)
        if !facts.hasPeerPidfd {
            log.notice("this kernel does not say for good who connected (SO_PEERPIDFD, Linux 6.5)")
        }
    }
}

/// The user's name, or their number where they have none.
func userName(_ uid: UInt32) -> String {
    guard let entry = getpwuid(uid), let name = entry.pointee.pw_name else { return "\(uid)" }
    return String(cString: name)
}

/// What lives on the loop while the daemon serves: the broker and its doors.
final class SessionHouse {
    private let broker: Broker
    private var doors: [Door] = []

    init(
        folders: SessionFolders, loop: EventLoop, collector: EvidenceCollector, facts: HostFacts, log: Logger,
        failed: @escaping @Sendable () -> Void
    ) throws {
        let access: AccessStore
        do throws(AccessStoreError) {
            access = try AccessStore.open(folder: folders.state, now: Clock.now())
        } catch {
            throw Failure(error, folder: folders.state)
        }
        let watch = BindingWatch(loop: loop)
        var surroundings = Surroundings(
            loop: loop, now: Clock.now, uptime: Clock.uptime, stateFolder: folders.state, ownUID: getuid(),
            userName: userName, watch: { binding, ended in watch.begin(binding, ended) },
            areKin: { left, right in Kinship.isKin(left, of: right) },
            facts: facts.described, log: { message in log.warning("\(message)") })
        surroundings.region = TelephoneRegion.ofThisProcess
        let policy = PolicyFolder(configuration: folders.configuration)
        surroundings.readPolicy = { policy.policy() }
        surroundings.policyFolder = policy.path
        broker = Broker(surroundings: surroundings, access: access)
        broker.openBook(of: getuid())
        do {
            for interface in ContactsInterface.allCases {
                doors.append(try open(interface, folders, loop, collector, log, failed))
            }
        } catch {
            close()
            throw Failure(
                "could not start: \(error)",
                tryThis: "another broker may serve there; name other folders with --runtime-dir and --state-dir")
        }
    }

    private func open(
        _ interface: ContactsInterface, _ folders: SessionFolders, _ loop: EventLoop, _ collector: EvidenceCollector,
        _ log: Logger, _ failed: @escaping @Sendable () -> Void
    ) throws -> Door {
        let broker = self.broker
        let service = try ServiceInterface(interface.service)
        let reception = Reception(door: interface, loop: loop, collector: collector, log: log)
        let door = try Door.open(
            at: folders.socket(of: interface), mode: 0o600, loop: loop,
            admit: { peer, decide in reception.admit(peer, decide) },
            onCall: { call in if !service.answer(call) { broker.answer(call) } },
            onClose: { connection, reason in
                if case .foreignBytes(let writer, let user, let owner) = reason {
                    log.warning(
                        """
                        process \(writer) of user \(user) wrote into the connection of process \(owner) at \(interface.name); \
                        it was closed
                        """)
                }
                broker.closed(connection)
            })
        door.onFailure = { reason in
            log.error("the door \(interface.name) closed by itself: \(reason)")
            failed()
        }
        return door
    }

    func close() {
        for door in doors { door.close() }
        broker.close()
    }
}

extension Failure {
    init(_ error: AccessStoreError, folder: String) {
        switch error {
        case .unavailable(let reason):
            self.init(
                "could not start: the access database in \(folder) cannot be used: \(reason)",
                tryThis: "it must be yours to write, and the disk must have room")
        case .damaged(let reason):
            self.init(
                "could not start: the access database in \(folder) is damaged and was left as it is: \(reason)",
                tryThis: "restore access.sqlite from a backup, or move it away to begin without any grants")
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
