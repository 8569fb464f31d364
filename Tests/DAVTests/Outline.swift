import BrokerDAV

/// An element as one line of text, for comparing: `D:prop[D:getetag="1" C:address-data]`.
func outline(_ element: XMLElement) -> String {
    let prefixes = [
        "DAV:": "D:", "urn:ietf:params:xml:ns:carddav": "C:", "http://calendarserver.org/ns/": "CS:", "": "",
    ]
    let name = (prefixes[element.name.namespace] ?? "{\(element.name.namespace)}") + element.name.local
    let children = element.children.map(outline)
    if !children.isEmpty { return "\(name)[\(children.joined(separator: " "))]" }
    return element.text.isEmpty ? name : "\(name)=\"\(element.text)\""
}

func document(_ text: String, limits: XMLLimits = XMLLimits()) throws -> XMLDocument? {
    try XMLReader.document(Array(text.utf8), limits: limits)
}

/// Feeds a document in pieces of one size.
func document(_ bytes: [UInt8], pieces size: Int, limits: XMLLimits = XMLLimits()) throws -> XMLDocument? {
    let reader = XMLReader(limits: limits)
    for start in stride(from: 0, to: bytes.count, by: size) {
        try reader.append(bytes[start..<min(start + size, bytes.count)].span.bytes)
    }
    return try reader.finish()
}

func outline(_ bytes: [UInt8]) throws -> String {
    try XMLReader.document(bytes, limits: XMLLimits(text: 16 * 1_048_576)).map { outline($0.root) } ?? "nothing"
}

/// Bodies of requests as real clients send them.
enum ClientBody {
    static let evolutionPrivileges =
        #"<propfind xmlns="DAV:"><prop><current-user-privilege-set/></prop></propfind>"#
    static let evolutionTag =
        #"<propfind xmlns="DAV:" xmlns:CS="http://calendarserver.org/ns/"><prop><CS:getctag/></prop></propfind>"#
    static let evolutionList = #"<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>"#
    static let evolutionMultiget = #"""
        <addressbook-multiget xmlns="urn:ietf:params:xml:ns:carddav" xmlns:D="DAV:"><D:prop><D:getetag/>\#
        <address-data/></D:prop><D:href>/ann/c-two.vcf</D:href><D:href>/ann/c-grp.vcf</D:href></addressbook-multiget>
        """#
    static let thunderbirdFirst = #"""
        <propfind xmlns="DAV:" xmlns:card="urn:ietf:params:xml:ns:carddav" xmlns:cs="http://calendarserver.org/ns/"
          xmlns:d="DAV:"> <prop> <resourcetype/> <getetag/> <cs:getctag/> </prop> </propfind>
        """#
    static let thunderbirdState = #"""
        <propfind xmlns="DAV:" xmlns:card="urn:ietf:params:xml:ns:carddav" xmlns:cs="http://calendarserver.org/ns/"
          xmlns:d="DAV:"> <prop> <displayname/> <cs:getctag/> <sync-token/> </prop> </propfind>
        """#
    static let thunderbirdMultiget = #"""
        <?xml version="1.0" encoding="utf-8"?> <card:addressbook-multiget xmlns:card="urn:ietf:params:xml:ns:carddav"
        xmlns:cs="http://calendarserver.org/ns/" xmlns:d="DAV:"> <d:prop> <d:getetag/> <card:address-data/> </d:prop>
        <d:href>/ann/c-grp.vcf</d:href> <d:href>
          /ann/c%20del.vcf </d:href> </card:addressbook-multiget>
        """#
    static let thunderbirdSync = #"""
        <sync-collection xmlns="DAV:" xmlns:card="urn:ietf:params:xml:ns:carddav"
        xmlns:cs="http://calendarserver.org/ns/" xmlns:d="DAV:"> <sync-token>data:,1795859064-7</sync-token>
        <sync-level>1</sync-level> <prop> <getetag/> <card:address-data/> </prop> </sync-collection>
        """#
    static let vdirsyncerHome = #"""
        <propfind xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:carddav"> <prop> <c:addressbook-home-set /> </prop>
        </propfind>
        """#
    static let vdirsyncerName = #"""
        <?xml version="1.0" encoding="utf-8" ?> <propfind xmlns="DAV:"> <prop>
        <ns0:displayname xmlns:ns0="DAV:" /> </prop> </propfind>
        """#
    static let vdirsyncerList = #"""
        <?xml version="1.0" encoding="utf-8" ?> <propfind xmlns="DAV:"> <prop> <resourcetype/> <getcontenttype/>
        <getetag/> </prop> </propfind>
        """#
    static let search = #"""
        <C:addressbook-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">
          <D:prop><D:getetag/><C:address-data content-type="text/vcard" version="4.0"><C:prop name="FN"/>
          <C:prop name="photo" novalue="yes"/></C:address-data></D:prop>
          <C:filter test="anyof">
            <C:prop-filter name="FN"><C:text-match collation="i;unicode-casemap" match-type="contains"
              >d&amp;ü</C:text-match></C:prop-filter>
            <C:prop-filter name="work.email" test="allof"><C:param-filter name="TYPE"><C:text-match
              match-type="equals" collation="i;ascii-casemap" negate-condition="yes">home</C:text-match>
              </C:param-filter></C:prop-filter>
            <C:prop-filter name="NICKNAME"><C:is-not-defined/></C:prop-filter>
          </C:filter>
          <C:limit><C:nresults>25</C:nresults></C:limit>
        </C:addressbook-query>
        """#
    static let patch = #"""
        <D:propertyupdate xmlns:D="DAV:" xmlns:A="http://apple.com/ns/ical/"><D:set><D:prop>
        <D:displayname>x</D:displayname><A:color>#fff</A:color></D:prop></D:set>
        <D:remove><D:prop><D:displayname/></D:prop></D:remove></D:propertyupdate>
        """#
    static let all = [
        evolutionPrivileges, evolutionTag, evolutionList, evolutionMultiget, thunderbirdFirst, thunderbirdState,
        thunderbirdMultiget, thunderbirdSync, vdirsyncerHome, vdirsyncerName, vdirsyncerList, search, patch,
    ]
}
