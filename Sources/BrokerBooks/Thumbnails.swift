import BrokerBounds
import BrokerContactsStore
import BrokerLedger
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
package final class Thumbnails {
    private let surroundings: Surroundings
    private let books: Books
    private let history: History
    /// The waiting contacts of each user.
    private var waiting = FairQueue<UInt32, ArraySlice<RecordNumber>>(perLane: 1)

    package init(surroundings: Surroundings, books: Books, history: History) {
        self.surroundings = surroundings
        self.books = books
        self.history = history
    }

    /// Whether no photo is waiting or being processed.
    var isIdle: Bool { waiting.isEmpty && waiting.busyLanes == 0 }

    /// Queues contacts whose photos wait for a thumbnail.
    package func enqueue(at records: [RecordNumber], of uid: UInt32) {
        waiting.change(uid) { $0 += records.prefix(max(0, StoreLimits.thumbnailsWaiting - $0.count)) }
        begin()
    }

    private func begin() {
        while waiting.busyLanes < StoreLimits.thumbnailsAtOnce,
            let (record, uid) = waiting.next({ [books] uid, records in
                // Without its book, the user's contacts wait until it is opened again.
                if books.opened(uid) == nil { records = [] }
                return .some(records.popFirst())
            })
        {
            guard let record, let book = books.opened(uid) else {
                waiting.ended(uid)
                continue
            }
            make(record, of: uid, book)
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
        waiting.ended(uid)
        if !made.isEmpty {
            history.noted(made, uid: uid)
            books.releaseMemorySoon(uid)
        }
        begin()
    }
}
