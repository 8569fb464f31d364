import BrokerLedger
import BrokerPeerIdentity
import BrokerPolicy
import BrokerSystem
import BrokerVarlink
import BrokerVarlinkServer
import Dispatch
import Glibc
import Logging

/// Opens the stores and the sockets, and serves in either mode until it is stopped.
struct Daemon {
    let setting: Setting
    let log: Logger

    /// Serves until SIGTERM or SIGINT. In system mode, SIGHUP reloads the policy. If a socket fails, ends the process with
    /// ``exitStatusAfterFailure``, so that systemd starts the broker again (`Restart=on-failure`).
    func run() throws {
        try raiseDescriptorLimit()
        let settings = setting.configuration.settings()
        let evidence = try setting.evidenceSource()
        // The app whose connection started the daemon usually waits for its first reply, so this runs
        // concurrently.
        DispatchQueue(label: "preparation").async { evidence.prepare() }
        let facts = HostFacts.read()
        sayWhatIsNotProtected(facts)

        let (setting, log, loop) = (setting, log, try Self.startLoop())
        let stop = DispatchSemaphore(value: 0)
        var signals = [SIGTERM, SIGINT].map { number in Self.on(number) { stop.signal() } }
        defer { for source in signals { source.cancel() } }
        let served = try loop.run {
            let served = try ServedBroker(
                setting, settings: settings, loop: loop, evidence: evidence, facts: facts, log: log
            ) { stop.signal() }
            served.prepare()
            return LoopBound(served, loop: loop)
        }
        if setting.mode == .system { signals.append(Self.on(SIGHUP) { Self.reload(served, loop) }) }
        log.report(.serving, "serving \(setting.whom)", [])
        ServiceManager.notify(.ready, .status("serving \(setting.whom)"))
        ServiceManager.keepAlive(loop)
        stop.wait()
        ServiceManager.notify(.stopping)
        log.report(.stopping, "stopping", [])
        let hasFailed = try loop.run {
            served.value.close()
            return served.value.hasFailed
        }
        loop.stop()
        ServiceManager.flush()
        Journaling.flush()
        if hasFailed { exit(Self.exitStatusAfterFailure) }
    }

    private static func startLoop() throws(Failure) -> EventLoop {
        do throws(EventLoopError) {
            return try EventLoop()
        } catch {
            throw Failure("could not start: cannot create the event loop: \(error)")
        }
    }

    /// Calls `body` on a queue for each signal of this number, instead of the signal's default action.
    private static func on(_ number: CInt, _ body: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { @Sendable in body() }
        source.resume()
        return source
    }

    private static func reload(_ served: LoopBound<ServedBroker>, _ loop: EventLoop) {
        ServiceManager.notify(.reloading)
        loop.execute {
            served.value.reload { ServiceManager.notify(.ready, .status(served.value.status)) }
        }
    }

    /// Raises the soft limit of open files to the hard limit. Every connection and every pidfd needs a
    /// descriptor. The connections of a single user could reach the usual soft limit of 1,024.
    ///
    /// Startup needs only a fraction of ``fewestDescriptors``, so startup code need not handle a lack of
    /// descriptors. libdispatch cannot handle such a lack and would abort the program.
    private func raiseDescriptorLimit() throws(Failure) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_max < Self.fewestDescriptors else { return }
        throw Failure(
            "could not start: too many open files: only \(limit.rlim_max) descriptors are allowed",
            tryThis: "raise the limit (ulimit -n, or LimitNOFILE= of the unit) to at least \(Self.fewestDescriptors)")
    }

    private static let fewestDescriptors: rlim_t = 64
    private static let exitStatusAfterFailure: CInt = 2

    private func sayWhatIsNotProtected(_ facts: HostFacts) {
        if setting.mode == .session {
            log.notice(
                """
                session mode cannot protect a user from their own programs: any of them outside a sandbox can read \
                the databases, answer prompts and impersonate another app
                """)
        }
        if !facts.hasPeerPidfd {
            log.notice(
                "this kernel lacks SO_PEERPIDFD (Linux 6.5): a caller's process ID may be reused before it is identified"
            )
        }
    }
}
