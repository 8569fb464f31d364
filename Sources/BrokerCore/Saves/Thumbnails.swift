import BrokerContactsStore
import BrokerModel
import BrokerVarlink
import Dispatch

/// Makes thumbnails of saved photos and stores them with the contacts. It lives on the event loop.
///
/// This work runs after the save. So no save waits until a photo is decoded, and a photo that cannot be
/// decoded is saved like any other. The broker itself is the author of the change. Apps that may see the
/// thumbnail find the change in the change history. The contact's modification date stays the same.
final class Thumbnails {
    /// Photos decoded at once, at most one per user.
    static let atOnce = 2
    /// Most contacts waiting per user; further ones get no thumbnail.
    static let mostWaiting = 100_000

    private let surroundings: Surroundings
    private let books: Books
    private let history: History
    /// The waiting contacts, in order of arrival. A user with more contacts stays in the list while one is
    /// processed.
    private var waiting: [(uid: UInt32, records: ArraySlice<RecordNumber>)] = []
    private var busy: Set<UInt32> = []

    init(surroundings: Surroundings, books: Books, history: History) {
        self.surroundings = surroundings
        self.books = books
        self.history = history
    }

    /// Whether no photo waits or is being processed.
    var isIdle: Bool { waiting.isEmpty && busy.isEmpty }

    /// Queues contacts whose photos were saved.
    func enqueue(at records: [RecordNumber], of uid: UInt32) {
        guard !records.isEmpty else { return }
        if let index = waiting.firstIndex(where: { $0.uid == uid }) {
            let room = Self.mostWaiting - waiting[index].records.count
            waiting[index].records += records.prefix(max(0, room))
        } else {
            waiting.append((uid, records.prefix(Self.mostWaiting)))
        }
        begin()
    }

    private func begin() {
        while busy.count < Self.atOnce, let index = waiting.firstIndex(where: { !busy.contains($0.uid) }) {
            // The user moves to the end, so that many photos of one user do not delay others.
            var next = waiting.remove(at: index)
            guard let record = next.records.popFirst(), let book = books.opened(next.uid) else { continue }
            if !next.records.isEmpty { waiting.append(next) }
            busy.insert(next.uid)
            make(record, of: next.uid, book)
        }
    }

    /// Reads and writes on the user's queue, and decodes on another queue, so that saves can continue
    /// meanwhile.
    private func make(_ record: RecordNumber, of uid: UInt32, _ book: ContactsStore) {
        let (loop, queue) = (surroundings.loop, books.queue(of: uid))
        let (makeThumbnail, seconds) = (surroundings.makeThumbnail, surroundings.seconds)
        loop.run(on: queue) {
            Self.photo(of: record, in: book)
        } then: { [self] found in
            guard let photo = found.get() else { return ended(uid, []) }
            loop.run(on: Self.decoding) {
                makeThumbnail(photo)
            } then: { [self] made in
                guard let thumbnail = made.get() else { return ended(uid, []) }
                loop.run(on: queue) {
                    // If the book was closed or removed meanwhile, the thumbnail is dropped.
                    (try? book.apply([.thumbnail(record, thumbnail, of: photo)], at: seconds)) ?? []
                } then: { [self] changes in
                    ended(uid, changes.get())
                }
            }
        }
    }

    private static let decoding = DispatchQueue(label: "thumbnails", attributes: .concurrent)

    /// The contact's photo in base64; `nil` if it has none, or has a thumbnail already.
    static func photo(of record: RecordNumber, in book: ContactsStore) -> [UInt8]? {
        let query = ContactQuery(scope: .only([record]), limit: 1, images: .images)
        // Reads the whole photo of up to 11 MB, which would block the event loop too long.
        guard let found = try? book.fetch(unified: query, .onWorker).rows.first?.images, found.thumbnailImageData == nil
        else { return nil }
        // A photo is stored as a JSON member, as replies contain it. This drops the member's name and the
        // closing quotation mark.
        return found.imageData.map { Array($0.dropFirst(#","imageData":""#.utf8.count).dropLast()) }
    }

    private func ended(_ uid: UInt32, _ made: [BookChange]) {
        busy.remove(uid)
        if !made.isEmpty {
            history.noted(made, uid: uid)
            books.releaseMemorySoon(uid)
        }
        begin()
    }
}
