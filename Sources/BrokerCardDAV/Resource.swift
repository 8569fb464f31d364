import BrokerBounds
import BrokerDAV

/// What one connection finds at a path. Everything else is not there, whoever it belongs to.
enum Resource: Hashable {
    /// `/`, which leads to ``home``.
    case root
    /// `/NAME/`: the connection's principal, and the home of its book.
    case home
    /// `/NAME/contacts/`.
    case book
    /// A card in the book, by the last part of its path; see ``CardNames``. There may be none.
    case card(String)

    private static let bookName = "contacts"

    /// - Parameter name: the name of the connection.
    init?(_ href: Href, of name: String) {
        let segments = href.segments
        guard segments.first ?? name == name else { return nil }
        switch segments.count {
        case 0: self = .root
        case 1: self = .home
        case 2 where segments[1] == Self.bookName: self = .book
        case 3 where segments[1] == Self.bookName && !href.isCollection:
            guard (1...CardDAVLimits.cardName).contains(segments[2].utf8.count) else { return nil }
            self = .card(segments[2])
        default: return nil
        }
    }

    func href(of name: String) -> Href? {
        switch self {
        case .root: try? Href([], isCollection: true)
        case .home: try? Href([name], isCollection: true)
        case .book: try? Href([name, Self.bookName], isCollection: true)
        case .card(let segment): try? Href([name, Self.bookName, segment], isCollection: false)
        }
    }

    /// The collection that PROPFIND with `Depth: 1` lists besides this one.
    var child: Resource? {
        switch self {
        case .root: .home
        case .home: .book
        case .book, .card: nil
        }
    }

    /// The properties that `allprop` returns (RFC 4918 §9.1).
    var unasked: [XMLName] {
        switch self {
        case .root: [.resourceType, .currentUserPrincipal]
        case .home: [.resourceType, .displayName, .currentUserPrincipal]
        case .book: [.resourceType, .displayName, .getCTag, .syncToken]
        case .card: [.resourceType, .getContentType, .getETag]
        }
    }

    /// The value of a property that does not depend on the contacts; `nil` if the resource does not have it.
    ///
    /// - Parameter mayWrite: whether the connection may change cards.
    func property(_ property: XMLName, of name: String, mayWrite: Bool) -> PropertyValue? {
        switch (property, self) {
        case (.resourceType, .root): .elements([.collection])
        case (.resourceType, .home): .elements([.collection, .principal])
        case (.resourceType, .book): .elements([.collection, .addressBook])
        case (.resourceType, .card): .elements([])
        case (.currentUserPrincipal, _), (.owner, .home), (.owner, .book), (.owner, .card), (.principalURL, .home),
            (.addressBookHomeSet, .home):
            Resource.home.href(of: name).map { .href($0) }
        // A program shows it, so each connection has another one.
        case (.displayName, .home), (.displayName, .book): .text(name)
        case (.getContentType, .card): .text(ListedCard.mediaType)
        case (.currentUserPrivilegeSet, .book) where mayWrite, (.currentUserPrivilegeSet, .card) where mayWrite:
            .privileges([.read, .write, .writeContent, .bind, .unbind, .readCurrentUserPrivilegeSet])
        case (.currentUserPrivilegeSet, _): .privileges([.read, .readCurrentUserPrivilegeSet])
        case (.supportedReportSet, .book):
            .reports([.addressBookMultiget, .addressBookQuery, .syncCollection])
        case (.supportedAddressData, .book): .cardVersions([.v3, .v4])
        case (.supportedCollationSet, .book): .collations(Collation.allCases)
        default: nil
        }
    }
}
