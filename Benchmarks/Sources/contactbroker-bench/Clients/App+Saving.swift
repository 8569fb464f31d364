import BrokerJSON
import BrokerModel
import BrokerVarlink
import Glibc

/// Saves contacts and watches changes.
extension App {
    private static let contactsPerSave = 500

    private static func save<Step>(_ steps: [Step], _ write: (Step, inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: steps.count * 800)
        writer.object {
            $0.name("changes")
            $0.array(steps) { writer, step in writer.object { write(step, &$0) } }
        }
        return CallFrame.encode(interface + "SaveContacts", parameters: writer.bytes)
    }

    private static func add(_ numbers: Range<Int>, inCrowd: Bool = false) -> [UInt8] {
        save(Array(numbers)) { number, writer in
            let contact = SampleContacts.contact(number, inCrowd: inCrowd)
            writer.member("operation", "add")
            writer.name("contact")
            WireContact(contact: contact, keys: contact.present).write(to: &writer)
        }
    }

    /// Returns a call that changes the next contacts' job titles to one that no contact ever had.
    private func change(contacts: Int = 1) -> [UInt8] {
        let changed = (next..<next + contacts).map { identifiers[$0 % identifiers.count] }
        next += contacts
        return Self.save(changed) { identifier, writer in
            writer.member("operation", "update")
            writer.name("contact")
            writer.object {
                $0.member("identifier", identifier)
                $0.member("jobTitle", "Coordinator \(next)")
            }
        }
    }

    func importContacts(_ first: Int, _ count: Int) throws -> Int64 {
        let start = Clock.now()
        for first in stride(from: first, to: first + count, by: Self.contactsPerSave) {
            try socket.send(Self.add(first..<min(first + count, first + Self.contactsPerSave), inCrowd: true))
            _ = try checked(socket.receiveReply())
        }
        return Clock.now() - start
    }

    func add(_ count: Int) throws -> [Int64] {
        // Higher than every number from which a contact of the book was generated.
        if made == 0 { made = max(identifiers.count, 1_000_000) }
        return try timed(count) {
            made += 1
            return Self.add(made..<made + 1)
        }
    }

    /// - Parameter contacts: how many contacts each call changes.
    func change(_ count: Int, contacts: Int = 1) throws -> [Int64] { try timed(count) { change(contacts: contacts) } }

    private func timed(_ count: Int, _ call: () -> [UInt8]) throws -> [Int64] {
        try (0..<count).map { _ in
            let call = call()
            let start = Clock.now()
            try socket.send(call)
            let size = try socket.receiveReply()
            let time = Clock.now() - start
            _ = try checked(size)
            return time
        }
    }

    // MARK: Notifications

    func watch(_ count: Int) throws -> [Int64] {
        try socket.send(CallFrame.encode(Self.interface + "WatchChanges", parameters: Array("{}".utf8), more: true))
        _ = try checked(socket.receiveReply())
        say([0])
        return try (0..<count).map { _ in
            let size = try socket.receiveReply()
            let time = Clock.now()
            _ = try checked(size)
            return time
        }
    }

    /// Waits before each change until the watchers were notified of the previous one, and until the broker
    /// again notifies without a delay.
    ///
    /// - Parameter isRead: whether to read the contact right before the change, as an app does in which a
    ///   person edits it.
    func changeSlowly(_ count: Int, isRead: Bool) throws -> [Int64] {
        try (0..<count).flatMap { _ in
            let reading = Self.fetch(identifiers[next % identifiers.count])
            let call = change()
            usleep(Self.pause)
            if isRead {
                try socket.send(reading)
                _ = try checked(socket.receiveReply())
            }
            let start = Clock.now()
            try socket.send(call)
            let size = try socket.receiveReply()
            let time = Clock.now() - start
            _ = try checked(size)
            return [start, time]
        }
    }

    /// The pause in microseconds. The broker notifies a watcher at most once in 50 ms.
    static let pause: UInt32 = 75_000
}
