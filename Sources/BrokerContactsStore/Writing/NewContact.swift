@_spi(StoredBytes) import BrokerModel
import BrokerNormalization
import Dispatch
import Synchronization

/// A contact that is to be added, as it is written.
struct NewContact: Sendable {
    let stored: [UInt8]
    /// The highest value identifier given in each key.
    let identifiers: [UInt8]
    let forms: ContactForms

    /// - Parameter time: when it is added.
    init(_ contact: Contact, at time: String, _ maker: FormMaker) {
        var contact = contact
        contact.creationDate = time
        contact.modificationDate = time
        contact.imageDataAvailable = !contact.imageData.isEmpty
        var identifiers = ValueIdentifiers()
        identifiers.assign(to: &contact)
        stored = StoredContact(contact).bytes
        self.identifiers = identifiers.bytes
        forms = maker.forms(of: contact)
    }
}

/// The contacts of a large save, made ready by another thread and by the one that writes where it would wait: that is half
/// of the save's work, and of the book it needs nothing.
final class ContactsAhead: Sendable {
    private let contacts: [Contact]
    private let time: String
    private let work: Mutex<Work>
    private let others = DispatchGroup()

    private struct Work {
        /// The first share that nobody has begun.
        var next = 0
        var made: [[NewContact]?]
    }

    /// Forms are made by the other thread with this. It reads ICU's data when they are wanted first.
    final class Maker: Sendable {
        private let locale: String
        private let region: String
        fileprivate let maker = Mutex<FormMaker?>(nil)

        init(locale: String, region: String) { (self.locale, self.region) = (locale, region) }

        /// `nil` where ICU's data are missing; then the thread that writes makes all.
        fileprivate func make() -> FormMaker? { Normalizer(locale: locale, region: region).map { FormMaker($0) } }

        func rest() { maker.withLock { $0 = nil } }
    }

    /// For fewer the other thread is not woken.
    static let fewest = 32
    /// Contacts taken at a time.
    private static let share = 16

    /// - Parameters:
    ///   - changes: whose new contacts they are; `nil` where these are too few for another thread.
    ///   - seconds: when they are added.
    init?(_ changes: [ContactChange], at seconds: Int64, _ other: Maker) {
        contacts = changes.compactMap { if case .add(_, let contact) = $0 { contact } else { nil } }
        guard contacts.count >= Self.fewest else { return nil }
        time = Timestamp.text(seconds: seconds)
        let shares = (contacts.count + Self.share - 1) / Self.share
        work = Mutex(Work(made: Array(repeating: nil, count: shares)))
        DispatchQueue.global().async(group: others) {
            other.maker.withLock { maker in
                if maker == nil { maker = other.make() }
                guard let maker else { return }
                while self.makeShare(maker) {}
            }
        }
    }

    var count: Int { contacts.count }

    /// The contacts of a share, which are given once.
    ///
    /// - Parameter maker: the caller's own.
    private func take(_ index: Int, _ maker: FormMaker) -> [NewContact] {
        while true {
            let made = work.withLock { work in
                defer { work.made[index] = nil }
                return work.made[index]
            }
            if let made { return made }
            // What is left is about to come from the other thread.
            if !makeShare(maker) { others.wait() }
        }
    }

    /// - Returns: whether there was one to make.
    private func makeShare(_ maker: FormMaker) -> Bool {
        let taken = work.withLock { work -> Int? in
            guard work.next < work.made.count else { return nil }
            defer { work.next += 1 }
            return work.next
        }
        guard let taken else { return false }
        let range = taken * Self.share..<min(contacts.count, (taken + 1) * Self.share)
        let made = contacts[range].map { NewContact($0, at: time, maker) }
        work.withLock { $0.made[taken] = made }
        return true
    }

    /// Nobody wants the rest.
    func stop() { work.withLock { $0.next = $0.made.count } }

    /// Gives the contacts one after the other, to one thread.
    struct Iterator {
        private let ahead: ContactsAhead
        private let maker: FormMaker
        private var index = 0
        private var share: ArraySlice<NewContact> = []

        init(_ ahead: ContactsAhead, _ maker: FormMaker) { (self.ahead, self.maker) = (ahead, maker) }

        /// Not to be called more often than there are contacts.
        mutating func next() -> NewContact {
            if share.isEmpty {
                share = ahead.take(index, maker)[...]
                index += 1
            }
            return share.removeFirst()
        }
    }
}

/// The new contacts of a save that waits for its turn, made ready meanwhile: of the book that takes nothing, and the disk is at work on
/// the save before. See ``ContactsStore/makeReady(_:at:)``. Nothing more is made once nobody has it who could want it.
public final class ReadyContacts: Sendable {
    private let ahead: ContactsAhead
    private let seconds: Int64
    private let isTaken = Atomic(false)

    init(_ ahead: ContactsAhead, at seconds: Int64) { (self.ahead, self.seconds) = (ahead, seconds) }

    deinit { if !isTaken.load(ordering: .relaxed) { ahead.stop() } }

    /// The contacts, once: each is given to one save.
    ///
    /// - Parameters:
    ///   - seconds: when the contacts are added. They are made with the time at which that was expected, and good in that second alone.
    ///   - changes: of the save, which adds as many.
    func take(for changes: [ContactChange], at seconds: Int64) -> ContactsAhead? {
        guard !isTaken.exchange(true, ordering: .relaxed) else { return nil }
        let count = changes.count { if case .add = $0 { true } else { false } }
        if seconds == self.seconds, count == ahead.count { return ahead }
        // The other thread has others to make instead.
        ahead.stop()
        return nil
    }
}
