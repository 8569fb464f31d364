import BrokerAccessControl
import BrokerPeerIdentity
import BrokerVarlink
import Dispatch
import Synchronization

/// Reports the end of the terminal session or process that a grant is bound to.
struct BindingWatch {
    let loop: any Loop

    private static let queue = DispatchQueue(label: "ends of sessions")

    /// - Returns: an object that owns the watch; releasing the object ends the watch. `nil` for a persistent
    ///   binding, or if the session or process has ended or cannot be watched.
    func begin(_ binding: Principal.Binding, _ ended: @escaping () -> Void) -> AnyObject? {
        let watch: SessionWatch
        do throws(PeerError) {
            switch binding {
            case .persistent: return nil
            case .session(let session): watch = try SessionWatch(session)
            case .process(let process): watch = try SessionWatch(process)
            }
        } catch {
            return nil
        }
        let bound = LoopBound(ended, loop: loop)
        let source = DispatchSource.makeReadSource(fileDescriptor: watch.fileDescriptor, queue: Self.queue)
        let reported = Reported()
        source.setEventHandler { @Sendable [loop] in
            // The descriptor stays readable, so the handler can run again until the source is cancelled.
            guard reported.isFirst() else { return }
            loop.execute { bound.value() }
        }
        // `watch` owns the descriptor and must outlive the source.
        source.setCancelHandler { @Sendable in withExtendedLifetime(watch) {} }
        source.resume()
        return Kept(source: source)
    }

    private final class Reported: Sendable {
        private let reported = Atomic(false)

        func isFirst() -> Bool { !reported.exchange(true, ordering: .relaxed) }
    }

    private final class Kept {
        private let source: any DispatchSourceRead

        init(source: any DispatchSourceRead) { self.source = source }

        deinit { source.cancel() }
    }
}
