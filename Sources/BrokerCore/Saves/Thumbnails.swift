import BrokerContactsStore
import BrokerModel
import BrokerVarlink
import Dispatch

/// Makes thumbnails of saved photos and stores them with the contacts. It lives on the event loop.
///
/// This work runs after the save. No save waits for a photo to be decoded, and a photo that cannot be
/// decoded is saved like any other. The broker itself is the author of the change. Apps that may see the
/// thumbnail find the change in the change history. The contact's modification date stays the same.
///
/// The book lists the contacts whose photos wait. If it is closed meanwhile, or the broker ends, the photos wait until the
/// book is opened again.
final class Thumbnails {
    /// The maximum number of photos decoded at the same time, at most one per user.
    static let atOnce = 2
    /// The maximum number of waiting contacts per user in memory. Further ones wait until the book is opened again.
    static let mostWaiting = 100_000

    private let surroundings: Surroundings
    private let books: Books
    private let history: History
    /// The waiting contacts by user, in the order in which the users take turns. A user whose contact is
    /// being processed stays in the list if more contacts wait.
    private var waiting: [(uid: UInt32, records: ArraySlice<RecordNumber>)] = []
    private var busy: Set<UInt32> = []

    init(surroundings: Surroundings, books: Books, history: History) {
        self.surroundings = surroundings
        self.books = books
        self.history = history
    }

    /// Whether no photo is waiting or being processed.
    var isIdle: Bool { waiting.isEmpty && busy.isEmpty }

    /// Queues contacts whose photos wait for a thumbnail.
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
            // The user moves to the end of the list. Many photos of one user therefore do not delay other
            // users.
            var next = waiting.remove(at: index)
            guard let record = next.records.popFirst(), let book = books.opened(next.uid) else { continue }
            if !next.records.isEmpty { waiting.append(next) }
            busy.insert(next.uid)
            make(record, of: next.uid, book)
        }
    }

    /// Reads and writes on the user's queue, but decodes on a different queue, because decoding must not
    /// block the user's saves.
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
                let thumbnail = made.get()
                loop.run(on: queue) {
                    // If the book was closed meanwhile, the thumbnail is made again later.
                    (try? book.apply([.thumbnail(record, thumbnail, of: photo)], at: seconds)) ?? []
                } then: { [self] changes in
                    ended(uid, changes.get())
                }
            }
        }
    }

    private static let decoding = DispatchQueue(label: "thumbnails", attributes: .concurrent)

    /// The contact's photo in base64. `nil` if the contact has no photo, already has a thumbnail, or cannot
    /// be read.
    static func photo(of record: RecordNumber, in book: ContactsStore) -> [UInt8]? {
        let query = ContactQuery(scope: .only([record]), limit: 1, images: .images)
        // A photo may be 11 MB large. Reading it would block the event loop too long, so this runs on the
        // user's queue.
        guard let found = try? book.fetch(unified: query, .onWorker).rows.first?.images, found.thumbnailImageData == nil
        else { return nil }
        // The book stores a photo as the JSON member that replies contain. The next line drops the member's
        // name and the closing quotation mark.
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
