import BrokerConnection
import BrokerInterface
import BrokerVarlinkClient
import Foundation
import Synchronization
import Testing

@testable import Contacts

/// The library's time limits, with servers that misbehave.
@Suite("How long a call may take")
struct WaitingTests {
    /// A socket in a folder of its own, on which the test listens.
    private final class Place {
        let path: String
        let descriptor: CInt

        init() throws {
            var template = Array("/tmp/waiting.XXXXXX".utf8CString)
            guard unsafe mkdtemp(&template) != nil else { throw Unusable() }
            let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            path = folder + "/door"
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard descriptor >= 0, bound == 0, listen(descriptor, 4) == 0 else { throw Unusable() }
        }

        deinit {
            close(descriptor)
            unlink(path)
            rmdir(String(path.dropLast("/door".count)))
        }

        struct Unusable: Error {}
    }

    /// - Parameter allowed: gets the time that each connection may take.
    private func calls(
        to place: Place, within bound: Duration, allowed: @escaping @Sendable (Duration) -> Void = { _ in }
    ) -> BrokerCalls {
        let path = place.path
        return BrokerCalls(bound: bound) { time throws(BrokerConnectionError) in
            allowed(time)
            do throws(VarlinkClientError) {
                return try VarlinkClient(path: path, timeout: time)
            } catch {
                throw .cannotConnect(path: path, reason: "\(error)")
            }
        }
    }

    /// The test never accepts the connection: the kernel queues the connection and the call.
    @Test("A call to a broker that never answers ends at its bound with a communication error")
    func silent() throws {
        let place = try Place()
        let calls = calls(to: place, within: .milliseconds(300))
        let took = ContinuousClock().measure {
            #expect { try calls.call(.countContacts) } throws: {
                ($0 as? CallFailure)?.asError().code == .communicationError
            }
        }
        #expect(took >= .milliseconds(290) && took < .seconds(5))
    }

    @Test("A call that is repeated gets the time that is left, not the whole time again")
    func repeated() throws {
        let place = try Place()
        let times = Mutex<[Duration]>([])
        let calls = calls(to: place, within: .seconds(30)) { time in times.withLock { $0.append(time) } }
        // The server ends the first connection without an answer after some time, and the second at once.
        let server = place.descriptor
        let ended = DispatchGroup()
        DispatchQueue.global().async(group: ended) {
            let first = accept(server, nil, nil)
            var byte: UInt8 = 0
            _ = recv(first, &byte, 1, 0)
            // No urgent data arrives, so poll(2) waits for its timeout, which is the time of the first connection.
            var waiting = pollfd(fd: first, events: Int16(POLLPRI), revents: 0)
            _ = poll(&waiting, 1, 300)
            close(first)
            var next = pollfd(fd: server, events: Int16(POLLIN), revents: 0)
            if poll(&next, 1, 10_000) == 1 { close(accept(server, nil, nil)) }
        }
        #expect(throws: CallFailure.self) { try calls.call(.countContacts) }
        ended.wait()
        let allowed = times.withLock { $0 }
        #expect(allowed.count == 2 && allowed[0] <= .seconds(30) && allowed[1] <= .milliseconds(29_710))
    }

    @Test("Calls that belong to one call of the app share its time, and other calls of the app do not")
    func shared() throws {
        let budget = WaitBudget(.seconds(2))
        WaitBudget.with(budget) {
            WaitBudget.forOneCall {
                #expect(WaitBudget.current === budget)
                budget.wait { left in
                    #expect(left == .seconds(2))
                    usleep(10_000)
                }
                WaitBudget.with(nil) { WaitBudget.forOneCall { #expect(WaitBudget.current !== budget) } }
            }
        }
        #expect(budget.left < .milliseconds(1_991) && WaitBudget.current == nil)
    }
}
