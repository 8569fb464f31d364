/// The name of an element, an attribute or a property: a namespace and a local name (Namespaces in XML 1.0 §2.1).
///
/// WebDAV names a property by the element that carries its value (RFC 4918 §4).
public struct XMLName: Hashable, Sendable {
    /// Empty for a name in no namespace.
    public let namespace: String
    public let local: String

    public init(_ namespace: String, _ local: String) {
        self.namespace = namespace
        self.local = local
    }

    public static func dav(_ local: String) -> XMLName { XMLName(webDAV, local) }
    public static func card(_ local: String) -> XMLName { XMLName(cardDAV, local) }

    static let webDAV = "DAV:"
    static let cardDAV = "urn:ietf:params:xml:ns:carddav"
    static let calendarServer = "http://calendarserver.org/ns/"
}

/// Properties of WebDAV (RFC 4918 §15), access control (RFC 3744 §4 and §5), reports (RFC 3253 §3.1.5), sync (RFC 6578
/// §4) and the current user's principal (RFC 5397).
extension XMLName {
    public static let resourceType = dav("resourcetype")
    public static let getETag = dav("getetag")
    public static let getContentType = dav("getcontenttype")
    public static let getContentLength = dav("getcontentlength")
    public static let getLastModified = dav("getlastmodified")
    public static let displayName = dav("displayname")
    public static let currentUserPrincipal = dav("current-user-principal")
    public static let principalURL = dav("principal-URL")
    public static let owner = dav("owner")
    public static let currentUserPrivilegeSet = dav("current-user-privilege-set")
    public static let supportedReportSet = dav("supported-report-set")
    public static let syncToken = dav("sync-token")
    /// Changes whenever the collection does. Not standardized; evolution-data-server and Thunderbird ask for it.
    public static let getCTag = XMLName(calendarServer, "getctag")
}

/// Properties of CardDAV (RFC 6352 §6.2 and §7.1.1).
extension XMLName {
    public static let addressBookHomeSet = card("addressbook-home-set")
    public static let addressBookDescription = card("addressbook-description")
    public static let supportedAddressData = card("supported-address-data")
    public static let supportedCollationSet = card("supported-collation-set")
    public static let maxResourceSize = card("max-resource-size")
    /// The card itself. Only reports return it (RFC 6352 §10.4).
    public static let addressData = card("address-data")
}

/// Values of `resourcetype`, `supported-report-set` and `current-user-privilege-set`.
extension XMLName {
    public static let collection = dav("collection")
    public static let principal = dav("principal")
    public static let addressBook = card("addressbook")
    public static let addressBookMultiget = card("addressbook-multiget")
    public static let addressBookQuery = card("addressbook-query")
    public static let syncCollection = dav("sync-collection")
    public static let read = dav("read")
    public static let write = dav("write")
    public static let writeContent = dav("write-content")
    public static let bind = dav("bind")
    public static let unbind = dav("unbind")
    public static let readCurrentUserPrivilegeSet = dav("read-current-user-privilege-set")
}

/// Elements that requests and responses are made of.
extension XMLName {
    static let href = dav("href")
    static let prop = dav("prop")
    static let allProp = dav("allprop")
    static let propName = dav("propname")
    static let include = dav("include")
    static let multistatus = dav("multistatus")
    static let response = dav("response")
    static let propStat = dav("propstat")
    static let status = dav("status")
    static let error = dav("error")
}
