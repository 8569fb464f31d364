import BrokerModel
import BrokerVCard

/// Reads a stream of entries in LDIF (RFC 2849), entry by entry and in bounded memory. It reads the attributes
/// that Thunderbird writes and those of inetOrgPerson (RFC 2798). An entry that lists other entries becomes a group.
///
/// A record that changes a directory is refused. A value that is only an address of a file is left out.
public struct LDIFReader: RowReader {
    private var decoder = StreamDecoder(.rows)
    private var records = LDIFRecords()

    public init() {}

    public mutating func append(_ bytes: [UInt8]) { records.append(decoder.decode(bytes, isLast: false)) }

    public mutating func finish() {
        records.append(decoder.decode([], isLast: true))
        records.finish()
    }

    public mutating func next() -> RowItem? {
        while let record = records.next() {
            if let item = LDIFEntry(record, isUTF8: decoder.isUTF8).item { return item }
        }
        return nil
    }
}

/// One record of an LDIF file.
private struct LDIFEntry {
    private let line: Int
    private var problem: RowProblem.Reason?
    private var name = ""
    /// The values of each attribute, by its name in lower case.
    private var values: [String: [String]] = [:]
    /// The attributes in the order of the record, in the spelling of the file.
    private var attributes: [String] = []
    /// For each value, the number of values before it in the record.
    private var places: [Value: Int] = [:]
    private var photos: [[UInt8]] = []
    private var remarks: [RowProblem.Reason] = []

    /// Whether a byte order mark declares UTF-8.
    private let isUTF8: Bool

    private struct Value: Hashable {
        let attribute: String
        let text: String
    }

    init(_ record: LDIFRecords.Record, isUTF8: Bool) {
        (line, self.isUTF8) = (record.line, isUTF8)
        guard !record.isTooLong else {
            problem = .tooLong
            return
        }
        for line in record.lines { take(line[...]) }
        if problem == nil, name.isEmpty, !attributes.isEmpty { problem = .notLDIF }
    }

    private mutating func take(_ line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            problem = problem ?? .notLDIF
            return
        }
        // Options such as `;lang-de` follow the attribute's name.
        let attribute = String(decoding: line[..<colon].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
        let key = attribute.lowercased()
        let kind = line[(colon + 1)...].first
        let isEncoded = kind == UInt8(ascii: ":")
        let isAddress = kind == UInt8(ascii: "<")
        let text = line[(colon + (isEncoded || isAddress ? 2 : 1))...].drop { $0 == 0x20 }
        switch key {
        case "version": return
        case "changetype": problem = .changeRecord
        default: break
        }
        guard !isAddress, let bytes = isEncoded ? Base64Text.decode(text) : Array(text) else {
            remarks.append(.leftOut(attribute))
            return
        }
        if Self.photoAttributes.contains(key) {
            photos.append(isEncoded ? Array(text) : [])
            return
        }
        let (decode, remark) = RowReading.decoder(for: bytes, isUTF8: isUTF8, orElse: Windows1252.decode)
        if let remark, !remarks.contains(remark) { remarks.append(remark) }
        let value = RowReading.cleaned(decode(bytes))
        guard !value.isEmpty else { return }
        if key == "dn" {
            if !name.isEmpty { problem = problem ?? .notLDIF }
            name = value
            return
        }
        if values[key] == nil { attributes.append(attribute) }
        values[key, default: []].append(value)
        let place = Value(attribute: key, text: value)
        if places[place] == nil { places[place] = places.count }
    }

    /// The entry as an item; `nil` if the record is empty or has only the file's version.
    var item: RowItem? {
        if let problem { return .unreadable(RowProblem(line: line, reason: problem)) }
        guard !name.isEmpty else { return nil }
        let classes = Set((values["objectclass"] ?? []).map { $0.lowercased() })
        if !classes.isDisjoint(with: Self.groupClasses) { return group }
        guard classes.isEmpty || classes.contains(where: { $0.hasSuffix("person") || Self.personClasses.contains($0) })
        else { return .unreadable(RowProblem(line: line, reason: .noPerson)) }
        var row = RowReading(fields: [])
        row.remarks = remarks
        fill(&row)
        guard !row.contact.present.isEmpty else { return .unreadable(RowProblem(line: line, reason: .empty)) }
        return .row(
            ReadRow(
                contact: row.contact, groups: [], line: line,
                remarks: row.remarks.map { RowProblem(line: line, reason: $0) }, uid: LDIFName.comparable(name)))
    }

    private var group: RowItem {
        let names = ["cn", "commonname", "displayname"].compactMap { values[$0]?.first }
        let members = ["member", "uniquemember"].flatMap { values[$0] ?? [] }
        return .group(
            RowGroup(
                name: names.first ?? "", uid: LDIFName.comparable(name), members: members.map(LDIFName.comparable),
                line: line))
    }

    private func fill(_ row: inout RowReading) {
        row.contact.namePrefix = values["personaltitle"]?.first ?? ""
        row.contact.nameSuffix = values["generationqualifier"]?.first ?? ""
        row.takeThunderbird { column in
            var found: [String] = []
            var known: Set<String> = []
            for attribute in Self.columns[column] ?? [] {
                // The same value in two attributes, such as cn and displayName, is meant once.
                let new = (values[attribute] ?? []).filter { !known.contains($0) }
                found += new
                known.formUnion(new)
            }
            return found
        }
        row.contact.phoneNumbers = inOrder(row.contact.phoneNumbers, RowReading.phones)
        row.contact.urlAddresses = inOrder(row.contact.urlAddresses, RowReading.urls)
        let isWorkFirst = attributes.lazy.map { $0.lowercased() }.first {
            Self.workAddress.contains($0) || Self.homeAddress.contains($0)
        }.map(Self.workAddress.contains)
        if isWorkFirst == true { row.contact.postalAddresses.reverse() }
        for (attribute, label) in [
            ("homepostaladdress", PredefinedLabel.home), ("postaladdress", PredefinedLabel.work),
            ("registeredaddress", PredefinedLabel.other),
        ] {
            for value in values[attribute] ?? [] { takeAddress(value, label, &row) }
        }
        for number in values["telexnumber"] ?? [] {
            row.contact.phoneNumbers.append(LabeledString(label: "telex", value: number))
        }
        for photo in photos {
            guard row.contact.imageData.isEmpty, let picture = PhotoValue.canonical(photo[...]) else {
                row.remarks.append(.leftOut("jpegPhoto"))
                continue
            }
            row.contact.imageData = picture
        }
        if let identifier = values["entryuuid"]?.first {
            row.contact.extraProperties.append("UID:urn:uuid:\(identifier.lowercased())")
        }
        for attribute in attributes {
            let key = attribute.lowercased()
            if Self.known.contains(key) { continue }
            if Self.noted.contains(key) {
                for value in values[key] ?? [] { row.addNote(attribute, value) }
            } else {
                row.remarks.append(.leftOut(attribute))
            }
        }
    }

    /// Returns the values in the order of the record, of which the first one is preferred.
    ///
    /// - Parameter table: the column of each label.
    private func inOrder(
        _ values: [LabeledString], _ table: [(column: String, label: String)]
    ) -> [LabeledString] {
        func place(_ value: LabeledString) -> Int {
            let attributes = table.first { $0.label == value.label }.flatMap { Self.columns[$0.column] } ?? []
            return attributes.compactMap { places[Value(attribute: $0, text: value.value)] }.min() ?? .max
        }
        return values.enumerated().map { ($1, place($1), $0) }.sorted { ($0.1, $0.2) < ($1.1, $1.2) }.map(\.0)
    }

    /// Takes an address in one text, whose lines end with `$` (RFC 4517 §3.3.28), unless the entry has that
    /// address in parts.
    private func takeAddress(_ text: String, _ label: String, _ row: inout RowReading) {
        let lines = text.split(separator: "$").map { RowReading.cleaned(String($0)) }.filter { !$0.isEmpty }
        guard !lines.isEmpty, !row.contact.postalAddresses.contains(where: { $0.label == label && !$0.street.isEmpty })
        else { return }
        var address = PostalAddress()
        (address.label, address.street) = (label, lines.joined(separator: "\n"))
        row.contact.postalAddresses.append(address)
    }

    // MARK: Attributes

    private static let groupClasses: Set<String> = ["groupofnames", "groupofuniquenames"]
    private static let personClasses: Set<String> = ["mozillaabpersonalpha", "contact", "user", "account"]
    private static let photoAttributes: Set<String> = ["jpegphoto", "photo", "thumbnailphoto"]

    /// For each column of Thunderbird, the attributes that have its values, in lower case. Thunderbird writes the
    /// first one and reads the others, too.
    private static let columns: [String: [String]] = [
        "first name": ["givenname", "gn"], "last name": ["sn", "surname"],
        "display name": ["displayname", "cn", "commonname"], "nickname": ["mozillanickname", "xmozillanickname"],
        "primary email": ["mail", "rfc822mailbox"], "secondary email": ["mozillasecondemail", "xmozillasecondemail"],
        "screen name": ["nsaimid", "nscpaimscreenname"], "work phone": ["telephonenumber", "phone"],
        "home phone": ["homephone", "hometelephonenumber"], "fax number": ["facsimiletelephonenumber", "fax"],
        "pager number": ["pager", "pagerphone"], "mobile number": ["mobile", "cellphone", "carphone"],
        "home address": ["mozillahomestreet", "homestreet"], "home address 2": ["mozillahomestreet2"],
        "home city": ["mozillahomelocalityname"], "home state": ["mozillahomestate"],
        "home zipcode": ["mozillahomepostalcode"], "home country": ["mozillahomecountryname"],
        "work address": ["street", "streetaddress", "postofficebox"], "work address 2": ["mozillaworkstreet2"],
        "work city": ["l", "locality", "localityname"], "work state": ["st", "region", "stateorprovincename"],
        "work zipcode": ["postalcode", "zip"],
        "work country": ["c", "countryname", "co", "friendlycountryname"], "job title": ["title"],
        "department": ["ou", "department", "departmentnumber", "orgunit", "organizationalunitname"],
        "organization": ["o", "company", "organizationname"],
        "web page 1": ["mozillaworkurl", "workurl", "labeleduri"], "web page 2": ["mozillahomeurl", "homeurl"],
        "birth year": ["birthyear"], "birth month": ["birthmonth"], "birth day": ["birthday"],
        "custom 1": ["mozillacustom1", "custom1"], "custom 2": ["mozillacustom2", "custom2"],
        "custom 3": ["mozillacustom3", "custom3"], "custom 4": ["mozillacustom4", "custom4"],
        "notes": ["description", "notes", "note"],
    ]

    private static func address(_ place: String) -> Set<String> {
        Set(columns.filter { $0.key.hasPrefix(place) && !$0.key.hasSuffix("phone") }.values.joined())
    }
    private static let homeAddress = address("home ")
    private static let workAddress = address("work ")

    /// Attributes without a contact key. Their values are added to the note under the attributes' names.
    private static let noted: Set<String> = [
        "roomnumber", "physicaldeliveryofficename", "employeenumber", "employeetype", "businesscategory", "carlicense",
        "preferredlanguage", "manager", "secretary", "uid", "seealso",
    ]

    /// Attributes that this reader knows. The last ones describe the entry and not the person.
    private static let known = Set(columns.values.joined()).union([
        "personaltitle", "generationqualifier", "homepostaladdress", "postaladdress", "registeredaddress",
        "telexnumber", "entryuuid", "objectclass", "initials", "modifytimestamp", "createtimestamp", "creatorsname",
        "modifiersname", "structuralobjectclass", "entrycsn", "entrydn", "subschemasubentry", "hassubordinates",
        "mozillausehtmlmail", "xmozillausehtmlmail", "xmozillaanyphone",
    ])
}

/// Distinguished names (RFC 4514), by which groups of a file list their members.
public enum LDIFName {
    /// Returns the name in lower case and without spaces beside its separators, for comparison.
    public static func comparable(_ name: String) -> String {
        name.lowercased().split(separator: ",").map { part in
            part.split(separator: "=", maxSplits: 1).map { String($0.trimmed) }.joined(separator: "=")
        }.joined(separator: ",")
    }
}
