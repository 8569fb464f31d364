import BrokerBounds
import BrokerContactsStore

/// Texts for the person that say why there is no space for a save, and what to do. 1 MB is 1,048,576 bytes.
package enum SpaceWords {
    /// - Parameter size: the bytes that the book would use; `nil` if the app must not learn this number.
    package static func bookFull(size: Int64?, most: Int64) -> String {
        let found = size.map { "the address book may use \(megabytes(most)) MB and would use \(megabytes($0)) MB" }
        return (found ?? "the address book is full")
            + ": delete contacts or photos; an administrator can raise limits.address_book_mb"
    }

    /// This text depends only on the bounds, so it reveals nothing about the book.
    package static func allowanceUsed(_ most: Int64, _ bounds: SpaceBounds) -> String {
        let perDay = most * 86_400 / max(1, bounds.refillTime)
        return
            "this app may add \(megabytes(most)) MB to the address book at once, and then \(megabytes(perDay)) MB a day"
            + ": delete contacts or photos that it added, or wait; an administrator can raise "
            + "limits.address_book_mb_per_app"
    }

    /// This text depends only on the bounds, too.
    package static func binFull(_ most: Int64) -> String {
        "the bin keeps at most \(megabytes(most)) MB of what such apps change and delete, and this could not be put back"
            + ": make fewer changes, or wait until older ones leave the bin"
    }

    /// Returns the size in MB, rounded up.
    package static func megabytes(_ bytes: Int64) -> Int64 { (bytes + 1_048_575) / 1_048_576 }
}
