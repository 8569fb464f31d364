import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// A part of the contacts that match a request, in its order. An extension of this library.
public struct CNContactPage: Hashable, Sendable {
    /// The contacts of this page.
    public let contacts: [CNContact]
    /// Where the next page begins; `nil` after the last.
    public let nextPage: String?
}

// Fetching for whoever takes their time. Nothing of it is on Apple's systems.
extension CNContactStore {
    /// Fetches a part of the contacts that match a request. An extension of this library.
    ///
    /// Between two pages the broker holds nothing for the app, which may take as long as it likes: a list that is scrolled, or output that
    /// somebody reads. ``enumerateContacts(with:usingBlock:)`` is faster, and gives up on an app that does not take a contact for 60 seconds.
    /// What is saved between two pages may be in the later one, but no contact is told twice.
    ///
    /// - Parameters:
    ///   - request: which contacts, with which keys, in which order.
    ///   - page: ``CNContactPage/nextPage`` of the page before, of the same request; `nil` for the first.
    ///   - limit: how many contacts a page may have: 1 to 1,000. It has fewer where they are large; 8 MiB are the most.
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
        // The same page again would never end.
        return CNContactPage(contacts: contacts, nextPage: next == page ? nil : next)
    }

    /// Hands out the contacts that match a request one by one, fetched page by page: as ``enumerateContacts(with:usingBlock:)``, for a
    /// closure that may throw, which ends the list, and may take as long as it likes. An extension of this library.
    ///
    /// - Parameters:
    ///   - request: which contacts, with which keys, in which order.
    ///   - pageSize: how many contacts are fetched at a time: 1 to 1,000.
    ///   - body: is given a contact. What it throws is thrown on.
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
