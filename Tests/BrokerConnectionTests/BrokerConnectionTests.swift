import BrokerVarlinkClient
import Glibc
import Testing

@testable import BrokerConnection

@Suite("Finding the broker")
struct BrokerConnectionTests {
    @Test("With an override only that place is tried; without one, the system's broker comes before the session's")
    func order() {
        var places = BrokerPlaces(override: nil, system: "/nowhere/system", user: "/nowhere/user")
        #expect(
            places.candidates(for: .apps, honoringOverride: true) == [
                "/nowhere/system/apps/io.contactbroker.Contacts",
                "/nowhere/user/contactbroker/apps/io.contactbroker.Contacts",
            ])
        places.override = "/nowhere/mine"
        #expect(
            places.candidates(for: .admin, honoringOverride: true) == ["/nowhere/mine/admin/io.contactbroker.Admin"])
        #expect(
            places.candidates(for: .agent, honoringOverride: false).first
                == "/nowhere/system/agent/io.contactbroker.Agent")
    }

    @Test(
        "With a system broker, no override leads agents and administrators elsewhere", .enabled(if: getuid() == 0))
    func systemBroker() throws {
        try withFolder { folder in
            let places = BrokerPlaces(override: "/nowhere/mine", system: folder, user: "/nowhere/user")
            #expect(!places.systemBrokerIsInstalled)
            #expect(mkdir("\(folder)/agent", 0o755) == 0)
            #expect(places.systemBrokerIsInstalled)
            for door in [BrokerSocket.agent, .admin] {
                #expect(places.candidates(for: door, honoringOverride: true) == ["\(folder)/\(door.path)"])
            }
            #expect(places.candidates(for: .apps, honoringOverride: true).first?.hasPrefix("/nowhere/mine/") == true)
            // A folder that another user could have made is not the system's.
            #expect(chown("\(folder)/agent", 65_534, 65_534) == 0)
            #expect(!places.systemBrokerIsInstalled)
            #expect(chown("\(folder)/agent", 0, 0) == 0 && places.systemBrokerIsInstalled)
            #expect(chmod("\(folder)/agent", 0o777) == 0)
            #expect(!places.systemBrokerIsInstalled)
        }
    }

    @Test("A broker is trusted if it belongs to the caller's user, the system broker's user or root")
    func trust() {
        #expect(BrokerConnection.isTrusted(1_000, ownUser: 1_000, brokerUser: 998))
        #expect(BrokerConnection.isTrusted(998, ownUser: 1_000, brokerUser: 998))
        #expect(BrokerConnection.isTrusted(0, ownUser: 1_000, brokerUser: nil))
        #expect(!BrokerConnection.isTrusted(1_001, ownUser: 1_000, brokerUser: 998))
        #expect(!BrokerConnection.isTrusted(998, ownUser: 1_000, brokerUser: nil))
    }

    @Test("In a sandbox only the system's broker is trusted without a mapped UID")
    func sandbox() {
        let system = "/run/contactbroker/apps/io.contactbroker.Contacts"
        let seen = { (uid: uid_t, path: String, map: String?) in
            BrokerConnection.isSeenFromSandbox(uid, at: path, map: map, overflow: "65534\n")
        }
        #expect(seen(65_534, system, "      1000       1000          1\n"))
        #expect(seen(65_534, system, "         0       1000          1\n"))
        // If every UID is mapped, none appears as the overflow UID.
        #expect(!seen(65_534, system, "         0          0 4294967295\n"))
        #expect(!seen(1_001, system, "      1000       1000          1\n"))
        #expect(!seen(65_534, "/home/ada/apps/io.contactbroker.Contacts", "      1000       1000          1\n"))
        #expect(!seen(65_534, system, nil))
    }

    @Test("Without a broker, the error names the places and says what to try")
    func notRunning() {
        let places = BrokerPlaces(override: "/nowhere/mine")
        #expect(
            throws: BrokerConnectionError.notRunning(lookedAt: ["/nowhere/mine/apps/io.contactbroker.Contacts"])
        ) { try connect(places) }
        let error = BrokerConnectionError.notRunning(lookedAt: ["/a", "/b"])
        #expect(error.description == "no contact broker at /a or /b")
        #expect(error.advice == "is contactbrokerd running? try: contactbrokerd --session")
        let system = "/run/contactbroker/admin/io.contactbroker.Admin"
        for error in [
            BrokerConnectionError.notRunning(lookedAt: [system]), .cannotConnect(path: system, reason: "x"),
        ] {
            #expect(error.advice == "is it running? try: systemctl status contactbroker.service")
        }
    }

    @Test("A running broker is found, and a socket without a listener is an error")
    func connects() throws {
        try withFolder { folder in
            #expect(mkdir("\(folder)/apps", 0o700) == 0)
            let path = "\(folder)/\(BrokerSocket.apps.path)"
            let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0 && listen(listener, 1) == 0)
            let places = BrokerPlaces(override: folder)
            let client = try connect(places)
            #expect(client.serverCredentials()?.uid == getuid())
            client.close()
            // A process that another test has just started may hold a copy of the descriptor for a moment.
            shutdown(listener, CInt(SHUT_RDWR))
            _ = close(listener)
            #expect {
                try connect(places)
            } throws: {
                guard case .cannotConnect(path, _)? = $0 as? BrokerConnectionError else { return false }
                return true
            }
        }
    }

    @discardableResult
    private func connect(_ places: BrokerPlaces) throws(BrokerConnectionError) -> VarlinkClient {
        try BrokerConnection.connect(to: .apps, timeout: .seconds(5), honoringOverride: true, places: places)
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/broker-places-XXXXXX\0".utf8CString.dropLast())
        let path = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer {
            for door in BrokerSocket.allCases {
                _ = unlink("\(path)/\(door.path)")
                _ = rmdir("\(path)/" + door.path.prefix { $0 != "/" })
            }
            _ = rmdir(path)
        }
        try body(path)
    }
}
