import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerContactsStore

/// Changes that need space, for the tests of the limits.
protocol SpaceSteps {}

extension SpaceSteps {
    var mail: ChangeAuthor { .mail }
    var chat: ChangeAuthor { ChangeAuthor(app: [UInt8](repeating: 8, count: 16)) }
    /// The access of an app that sees whole cards, but not all cards.
    var whole: AuthorAccess { .limited(seeing: .all) }
    var megabyte: Int { 1_048_576 }
    /// A photo that takes one megabyte in its stored form.
    var photo: String { String(repeating: "QUJD", count: megabyte / 4) }

    func bounds(book: Int = 1_000 * 1_048_576, app: Int = 1_000 * 1_048_576, log: Int = 128 * 1_048_576) -> SpaceBounds
    {
        var bounds = SpaceBounds()
        bounds.book = Int64(book)
        bounds.app = Int64(app)
        bounds.log = Int64(log)
        return bounds
    }

    func add(_ record: Int64, _ content: String = "", note: String = "") -> ContactChange {
        .add(
            RecordNumber(record),
            person("Ada \(record)") {
                $0.imageData = content
                $0.note = note
            })
    }

    func update(_ record: Int64, photo: String) -> ContactChange {
        .update(RecordNumber(record), person { $0.imageData = photo }, keys: ContactKeySet(.imageData))
    }

    func rename(_ record: Int64, _ name: String) -> ContactChange {
        .update(RecordNumber(record), person(name), keys: ContactKeySet(.givenName))
    }
}

extension ChangeAuthor {
    fileprivate static let mail = ChangeAuthor(app: [UInt8](repeating: 7, count: 16))
}

extension Book {
    /// - Parameter author: the app that saves; `nil` for ``ChangeAuthor/mail``.
    /// - Returns: why the save was refused; `nil` if it was made.
    func save(
        _ changes: ContactChange..., by author: ChangeAuthor? = nil, as access: AuthorAccess = .limited(seeing: .all),
        at seconds: Int64 = 0
    ) -> ChangeError? {
        do throws(ChangeError) {
            try store.apply(changes, by: author ?? .mail, at: seconds, access: access)
            return nil
        } catch {
            return error
        }
    }

    func sizeInUse() throws -> Int { Int(try #require(try BookSize.read(folder: folder.book))) }
}
