import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// One page of the contacts that match a request, in the request's sort order. An extension of this library.
public struct CNContactPage: Hashable, Sendable {
    /// The contacts of this page.
    public let contacts: [CNContact]
    /// The cursor of the next page; `nil` if this is the last page.
    public let nextPage: String?
}

// Paged fetching, which Apple's systems do not have.
extension CNContactStore {
    /// Fetches one page of the contacts that match a request. An extension of this library.
    ///
    /// The broker keeps no state for the app between two pages, so the app can pause for any time, for
    /// example while a person scrolls a list. ``enumerateContacts(with:usingBlock:)`` is faster, but it
    /// fails if the app leaves the broker's replies unread for 60 seconds. A page may include changes
    /// that were made after the previous page was read, but no contact is returned twice.
    ///
    /// - Parameters:
    ///   - request: selects the contacts, keys and sort order.
    ///   - page: ``CNContactPage/nextPage`` of the previous page, for the same request; `nil` for the first
    ///     page.
    ///   - limit: the maximum number of contacts in the page, 1 to 1,000. A page may have fewer, because its
    ///     size is limited to 8 MiB.
    public func contactPage(
        with request: CNContactFetchRequest, startingAt page: String? = nil, limit: Int = 200
    ) throws -> CNContactPage {
        let keys = try ContactKeySet(request.keysToFetch)
        let predicate = try request.predicate.map { try WirePredicate($0) }
        let reply = try Self.answer { () throws(CallFailure) in
            try BrokerCalls.shared.call(.fetchContacts) { writer in
                Self.write(request, keys, predicate, to: &writer)
                writer.member("limit", max(1, min(limit, 1_000)))
                writer.member("after", page)
            }
        }
        ChangeWatch.shared.read(at: reply["historyToken"]?.string)
        let contacts = reply["contacts"]?.elements?.map { CNContact.received($0, keys, request.mutableObjects) } ?? []
        let next = reply["next"]?.string
        // A cursor that does not advance would make the app loop forever.
        return CNContactPage(contacts: contacts, nextPage: next == page ? nil : next)
    }

    /// Calls a closure with each contact that matches a request, fetched page by page. Unlike the block of
    /// ``enumerateContacts(with:usingBlock:)``, the closure may take any time. If it throws, the fetch ends.
    /// An extension of this library.
    ///
    /// - Parameters:
    ///   - request: selects the contacts, keys and sort order.
    ///   - pageSize: the number of contacts to fetch at a time, 1 to 1,000.
    ///   - body: receives a contact. Its error is rethrown.
    public func forEachContact(
        with request: CNContactFetchRequest, pageSize: Int = 200, _ body: (CNContact) throws -> Void
    ) throws {
        var next: String?
        repeat {
            let page = try contactPage(with: request, startingAt: next, limit: pageSize)
            for contact in page.contacts { try body(contact) }
            next = page.nextPage
        } while next != nil
    }
}
