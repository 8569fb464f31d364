import BrokerCardDAV
import BrokerInterface
import CBrokerLinux
import Dispatch
import Glibc

/// The program that serves CardDAV on the loopback. For its options, see ``Arguments/help``.
@main
enum ContactBrokerDAV {
    static func main() {
        clinux_share_memory()
        umask(0o077)
        // Without this, a write to a disconnected client would end the program.
        signal(SIGPIPE, SIG_IGN)
        do {
            switch try Arguments(CommandLine.arguments.dropFirst()).action {
            case .help: print(Arguments.help)
            case .version: print(Release.version)
            case .session(let runtime, let state): try serve(try ServiceFolders(runtime: runtime, state: state))
            }
        } catch let misunderstood as Arguments.Misunderstood {
            Log.write("\(misunderstood.reason)\ntry: contactbroker-dav --help")
            exit(2)
        } catch let failure as Failure {
            Log.write(failure.message + (failure.tryThis.map { "\ntry: " + $0 } ?? ""))
            exit(2)
        } catch {
            Log.write("could not start: \(error)")
            exit(2)
        }
    }

    /// Serves until SIGTERM or SIGINT.
    private static func serve(_ folders: ServiceFolders) throws {
        let stop = DispatchSemaphore(value: 0)
        let signals = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in _ = stop.signal() }
            source.resume()
            return source
        }
        defer { for source in signals { source.cancel() } }
        try folders.make()
        let file = PortFile(folder: folders.state)
        let sent: SentCards
        do {
            sent = try SentCards(folder: folders.state)
        } catch {
            throw Failure(
                "could not start: \(error)",
                tryThis: "move carddav.sqlite away; programs then read their address books again")
        }
        let server = Server(socket: folders.brokerSocket, user: getuid(), sent)
        let port = try file.port { (port) throws(Failure) in try server.listen(on: port) }
        Log.write("serving http://127.0.0.1:\(port)/")
        Announcer(socket: folders.brokerSocket, port: port).start()
        stop.wait()
        server.close()
    }
}

/// The reason why the program does not start, and what to try.
struct Failure: Error {
    let message: String
    let tryThis: String?

    init(_ message: String, tryThis: String? = nil) {
        self.message = message
        self.tryThis = tryThis
    }
}
