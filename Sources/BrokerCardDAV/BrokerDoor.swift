import BrokerJSON
import BrokerVarlinkClient

/// The broker's socket for this service.
public enum BrokerDoor {
    /// Tells the broker where the service listens, and waits until the broker ends the connection.
    ///
    /// - Parameter done: called when the broker knows.
    public static func announce(port: UInt16, at socket: String, done: () -> Void) throws(ServiceProblem) {
        do throws(BrokerFailure) {
            let client = try BrokerBook.connect(to: socket)
            do throws(VarlinkClientError) {
                _ = try client.call(BrokerBook.interface + ".Announce") { $0.member("port", port) }
                done()
                // There is no reply to wait for: the call ends with the connection.
                _ = try client.nextReply(timeout: nil)
            } catch .closed {
                return
            } catch {
                throw BrokerFailure(error)
            }
        } catch {
            throw ServiceProblem(reason: error.reason)
        }
    }
}
