import BrokerModel
import BrokerNormalization
import Dispatch
import Synchronization

/// A contact to be added, in its stored form.
struct NewContact: Sendable {
    let stored: StoredCard
    /// The highest value identifier that was assigned for each key.
    let identifiers: [UInt8]
    let forms: ContactForms

    /// - Parameter time: the time of the save.
    init(_ contact: Contact, at time: String, _ maker: FormMaker) {
        var contact = contact
        contact.creationDate = time
        contact.modificationDate = time
        contact.imageDataAvailable = !contact.imageData.isEmpty
        var identifiers = ValueIdentifiers()
        identifiers.assign(to: &contact)
        stored = StoredCard(StoredContact(contact))
        self.identifiers = identifiers.bytes
        forms = maker.forms(of: contact)
    }
}

/// The contacts of a large save, which another thread prepares. The writing thread also prepares contacts
/// instead of waiting. Preparation is half of a save's work and does not need the book.
final class ContactsAhead: Sendable {
    private let contacts: [Contact]
    private let time: String
    private let work: Mutex<Work>
    private let others = DispatchGroup()

    private struct Work {
        /// The index of the first share that no thread has begun. A share is a few consecutive contacts.
        var next = 0
        var made: [[NewContact]?]
    }

    /// Makes forms on the other thread. The first use creates the form maker, which loads ICU's data.
    final class Maker: Sendable {
        private let region: String
        fileprivate let maker = Mutex<FormMaker?>(nil)

        init(region: String) { self.region = region }

        /// Returns `nil` if ICU's data are missing; the writing thread then makes all forms.
        fileprivate func make(_ locale: String) -> FormMaker? {
            Normalizer(locale: locale, region: region).map { FormMaker($0) }
        }

        func releaseMemory() { maker.withLock { $0 = nil } }
    }

    /// The other thread is used only for at least this many contacts.
    static let fewest = 32
    /// The number of contacts in a share.
    private static let share = 16

    /// - Parameters:
    ///   - changes: the changes of the save. The result is `nil` if they add fewer than ``fewest`` contacts.
    ///   - seconds: the time of the save.
    ///   - locale: the locale of the forms, which is the writing thread's.
    init?(_ changes: [ContactChange], at seconds: Int64, locale: String, _ other: Maker) {
        contacts = changes.compactMap { if case .add(_, let contact) = $0 { contact } else { nil } }
        guard contacts.count >= Self.fewest else { return nil }
        time = Timestamp.text(seconds: seconds)
        let shares = (contacts.count + Self.share - 1) / Self.share
        work = Mutex(Work(made: Array(repeating: nil, count: shares)))
        DispatchQueue.global().async(group: others) {
            other.maker.withLock { maker in
                if maker?.normalizer.locale != locale { maker = other.make(locale) }
                guard let maker else { return }
                while self.makeShare(maker) {}
            }
        }
    }

    /// Returns the contacts of a share. Call this once for each share.
    ///
    /// - Parameter maker: the form maker of the calling thread.
    private func take(_ index: Int, _ maker: FormMaker) -> [NewContact] {
        while true {
            let made = work.withLock { work in
                defer { work.made[index] = nil }
                return work.made[index]
            }
            if let made { return made }
            // No share is left to begin, so the other thread is making the missing one.
            if !makeShare(maker) { others.wait() }
        }
    }

    /// - Returns: whether there was a share left to make.
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

    /// Stops the preparation of further contacts.
    func stop() { work.withLock { $0.next = $0.made.count } }

    /// Returns the contacts one by one. Only one thread may use an iterator.
    struct Iterator {
        private let ahead: ContactsAhead
        private let maker: FormMaker
        private var index = 0
        private var share: ArraySlice<NewContact> = []

        init(_ ahead: ContactsAhead, _ maker: FormMaker) { (self.ahead, self.maker) = (ahead, maker) }

        /// Must not be called more often than there are contacts.
        mutating func next() -> NewContact {
            if share.isEmpty {
                share = ahead.take(index, maker)[...]
                index += 1
            }
            return share.removeFirst()
        }
    }
}
