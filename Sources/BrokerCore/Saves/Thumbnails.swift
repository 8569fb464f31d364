import BrokerContactsStore
import BrokerModel
import BrokerVarlink
import Dispatch

/// Has thumbnails made of photos that were saved, and keeps them with the contacts. It lives on the loop.
///
/// After the save and not within it: whoever saves waits for no picture to be decoded, and a photo of which nobody can make
/// a thumbnail is saved as any other. The thumbnail comes as a change of the broker's own: who may see it is told, and the date of
/// the last edit stays.
final class Thumbnails {
    /// Photos decoded at once, and never two of one user.
    static let atOnce = 2
    /// Contacts that wait, for each user; what comes beyond has no thumbnail.
    static let mostWaiting = 100_000

    private let surroundings: Surroundings
    private let books: Books
    private let history: History
    /// In the order in which they came. A user stays in it while one of theirs is being made.
    private var waiting: [(uid: UInt32, records: ArraySlice<RecordNumber>)] = []
    private var busy: Set<UInt32> = []

    init(surroundings: Surroundings, books: Books, history: History) {
        self.surroundings = surroundings
        self.books = books
        self.history = history
    }

    /// No photo waits or is being read.
    var isIdle: Bool { waiting.isEmpty && busy.isEmpty }

    /// Photos of these contacts were saved.
    func look(at records: [RecordNumber], of uid: UInt32) {
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
            // To the end: whoever has many photos does not make others wait for all of them.
            var next = waiting.remove(at: index)
            guard let record = next.records.popFirst(), let book = books.opened(next.uid) else { continue }
            if !next.records.isEmpty { waiting.append(next) }
            busy.insert(next.uid)
            make(record, of: next.uid, book)
        }
    }

    /// Read and written on the user's queue, and decoded beside it: saves go on meanwhile.
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
                    // The book may be closed by now, or be gone: then so is the thumbnail.
                    (try? book.apply([.thumbnail(record, thumbnail, of: photo)], at: seconds)) ?? []
                } then: { [self] changes in
                    ended(uid, changes.get())
                }
            }
        }
    }

    private static let decoding = DispatchQueue(label: "thumbnails", attributes: .concurrent)

    /// The contact's photo in base64, if it has one without a thumbnail.
    static func photo(of record: RecordNumber, in book: ContactsStore) -> [UInt8]? {
        let query = ContactQuery(scope: .only([record]), limit: 1, images: .images)
        // Beside the loop, which would wait for up to 11 MB.
        guard let found = try? book.fetch(unified: query, .beside).rows.first?.images, found.thumbnailImageData == nil
        else { return nil }
        // A member of a reply, as it is kept for: its name goes, and the last quotation mark.
        return found.imageData.map { Array($0.dropFirst(#","imageData":""#.utf8.count).dropLast()) }
    }

    private func ended(_ uid: UInt32, _ made: [BookChange]) {
        busy.remove(uid)
        if !made.isEmpty {
            history.noted(made, uid: uid)
            books.rest(uid)
        }
        begin()
    }
}
