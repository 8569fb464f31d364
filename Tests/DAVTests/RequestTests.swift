import BrokerDAV
import Testing

@Suite("Requests of WebDAV and CardDAV")
struct RequestTests {
    private func report(_ text: String) throws -> Report { try Report(try document(text)) }

    private func multiget(_ text: String) throws -> AddressBookMultiget {
        guard case .multiget(let multiget) = try report(text) else { throw RequestError.invalid("not a multiget") }
        return multiget
    }

    @Test(
        "PROPFIND of each client",
        arguments: [
            (ClientBody.evolutionPrivileges, [XMLName.currentUserPrivilegeSet]),
            (ClientBody.evolutionTag, [.getCTag]),
            (ClientBody.evolutionList, [.getETag]),
            (ClientBody.thunderbirdFirst, [.resourceType, .getETag, .getCTag]),
            (ClientBody.thunderbirdState, [.displayName, .getCTag, .syncToken]),
            (ClientBody.vdirsyncerHome, [.addressBookHomeSet]),
            (ClientBody.vdirsyncerName, [.displayName]),
            (ClientBody.vdirsyncerList, [.resourceType, .getContentType, .getETag]),
        ])
    func propertyFind(body: String, names: [XMLName]) throws {
        #expect(try PropertyFind(try document(body)).selection == .named(names))
    }

    @Test("PROPFIND without a body asks for all properties; allprop may include more; propname wants names")
    func selections() throws {
        #expect(try PropertyFind(nil).selection == .all(including: []))
        let all = #"<D:propfind xmlns:D="DAV:"><D:allprop/><D:include><D:owner/></D:include></D:propfind>"#
        #expect(try PropertyFind(try document(all)).selection == .all(including: [.owner]))
        let names = #"<D:propfind xmlns:D="DAV:"><x xmlns="urn:x"/><D:propname/></D:propfind>"#
        #expect(try PropertyFind(try document(names)).selection == .names)
        let none = try document(#"<D:propfind xmlns:D="DAV:"/>"#)
        #expect(throws: RequestError.invalid("propfind")) { try PropertyFind(none) }
    }

    @Test("A property that is named twice counts once, and only so many may be named")
    func properties() throws {
        func find(_ count: Int) throws -> PropertyFind {
            let names = (0..<count).map { "<p\($0)/><p0/>" }.joined()
            return try PropertyFind(try document("<propfind xmlns='DAV:'><prop>\(names)</prop></propfind>"))
        }
        guard case .named(let names) = try find(DAVBounds.properties).selection else { return }
        #expect(names.count == DAVBounds.properties)
        #expect(throws: RequestError.tooManyProperties) { try find(DAVBounds.properties + 1) }
    }

    @Test("Multiget of each client")
    func multigets() throws {
        let evolution = try multiget(ClientBody.evolutionMultiget)
        #expect(evolution.properties.selection == .named([.getETag, .addressData]))
        #expect(evolution.properties.addressData?.version == nil)
        #expect(Array(evolution.hrefs) == ["/ann/c-two.vcf", "/ann/c-grp.vcf"])
        let thunderbird = try multiget(ClientBody.thunderbirdMultiget)
        #expect(Array(thunderbird.hrefs) == ["/ann/c-grp.vcf", "/ann/c%20del.vcf"])
    }

    @Test("One multiget may name a whole book of 100,000 cards")
    func wholeBook() throws {
        let hrefs = (0..<100_000).map { "<href>/dav/ann/book/7aab8852-b698-497a-a28a-59a434a\($0).vcf</href>" }.joined()
        let text =
            "<C:addressbook-multiget xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:carddav'><prop><getetag/></prop>"
            + "\(hrefs)</C:addressbook-multiget>"
        var count = 0
        let time = try ContinuousClock().measure { for _ in try multiget(text).hrefs { count += 1 } }
        #expect(count == 100_000)
        #expect(time < .seconds(5))
    }

    @Test("Sync of Thunderbird, and a first sync with a limit")
    func sync() throws {
        guard case .sync(let sync) = try report(ClientBody.thunderbirdSync) else { return #expect(Bool(false)) }
        #expect(sync.token == "data:,1795859064-7")
        #expect(sync.level == .one)
        #expect(sync.limit == nil)
        #expect(sync.properties.selection == .named([.getETag, .addressData]))
        let first = """
            <D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>infinite</D:sync-level><D:limit>\
            <D:nresults>100</D:nresults></D:limit><D:prop><D:getetag/></D:prop></D:sync-collection>
            """
        guard case .sync(let sync) = try report(first) else { return #expect(Bool(false)) }
        #expect(sync.token == nil)
        #expect(sync.level == .infinite)
        #expect(sync.limit == 100)
        #expect(sync.properties.addressData == nil)
        #expect(throws: RequestError.invalid("nresults")) { try report(first.replacing(">100<", with: ">-1<")) }
        #expect(throws: RequestError.invalid("sync-level")) { try report(first.replacing("infinite", with: "2")) }
    }

    @Test("A query has a filter, a limit and a choice of properties")
    func query() throws {
        guard case .query(let query) = try report(ClientBody.search) else { return #expect(Bool(false)) }
        #expect(query.limit == 25)
        let data = try #require(query.properties.addressData)
        #expect(data.version == .v4)
        #expect(data.properties?.map(\.name) == ["FN", "PHOTO"])
        #expect(data.properties?.map(\.omitsValue) == [false, true])
        #expect(query.filter.test == .anyOf)
        #expect(query.filter.properties.map(\.name) == ["FN", "EMAIL", "NICKNAME"])
        #expect(query.filter.properties.map(\.group) == [nil, "WORK", nil])
        #expect(query.filter.properties[2].condition == .isNotDefined)
    }

    @Test(
        "What a report asks for and the server does not have is named in the response",
        arguments: [
            (#"version="4.0""#, #"version="2.1""#, Precondition.supportedAddressData, 403),
            (#"content-type="text/vcard""#, #"content-type="application/vcard+json""#, .supportedAddressData, 403),
            ("i;unicode-casemap", "i;basic", .supportedCollation, 403),
            ("C:is-not-defined", "C:is-defined", .supportedFilter, 403),
            ("C:param-filter", "D:param-filter", .supportedFilter, 403),
        ])
    func unmet(old: String, new: String, precondition: Precondition, status: Int) {
        let error = RequestError.unmet(precondition)
        #expect(throws: error) { try report(ClientBody.search.replacing(old, with: new)) }
        #expect(error.status == status)
    }

    @Test(
        "A query with values that the RFC does not define is refused",
        arguments: [
            ("anyof", "xor"), (#"match-type="contains""#, #"match-type="regex""#),
            (#"negate-condition="yes""#, #"negate-condition="1""#), (#"name="FN""#, #"nom="FN""#), (">25<", ">many<"),
        ])
    func invalid(old: String, new: String) throws {
        let error = #expect(throws: RequestError.self) { try report(ClientBody.search.replacing(old, with: new)) }
        #expect(error?.status == 400)
    }

    @Test("A filter has a limited number of conditions and of text")
    func filterSize() throws {
        func query(_ count: Int, _ text: Int) -> String {
            let match = "<C:text-match>\(String(repeating: "x", count: text))</C:text-match>"
            let filter = String(repeating: "<C:prop-filter name='FN'>\(match)</C:prop-filter>", count: count)
            return "<C:addressbook-query xmlns:C='urn:ietf:params:xml:ns:carddav'><C:filter>\(filter)</C:filter>"
                + "</C:addressbook-query>"
        }
        #expect(throws: Never.self) { try report(query(DAVBounds.conditions / 2, DAVBounds.conditionText)) }
        #expect(throws: RequestError.filterTooLarge) { try report(query(DAVBounds.conditions / 2 + 1, 1)) }
        #expect(throws: RequestError.filterTooLarge) { try report(query(1, DAVBounds.conditionText + 1)) }
    }

    @Test("Elements of another namespace are not those of WebDAV")
    func namespaces() throws {
        let find = try document(ClientBody.evolutionList.replacing("DAV:", with: "dav:"))
        #expect(throws: RequestError.unexpectedRoot(XMLName("dav:", "propfind"))) { try PropertyFind(find) }
        guard case .unknown(let name) = try report("<x:expand-property xmlns:x='DAV:'/>") else {
            return #expect(Bool(false))
        }
        #expect(name == .dav("expand-property"))
        guard case .unknown = try report(ClientBody.thunderbirdSync.replacing("\"DAV:\"", with: "\"urn:d\"")) else {
            return #expect(Bool(false))
        }
    }

    @Test("PROPPATCH names the properties that it would change")
    func patch() throws {
        let patch = try PropertyPatch(try document(ClientBody.patch))
        #expect(patch.names == [.displayName, XMLName("http://apple.com/ns/ical/", "color")])
        #expect(throws: RequestError.self) { try PropertyPatch(nil) }
    }
}
