import BrokerModel
import BrokerVCard

// The entry point for libFuzzer. It checks for any bytes that nothing crashes, that every card that is read can be
// saved, and that the result does not depend on how the bytes are split. A card that is written and read again must be
// the same, in both versions.

private func items(_ bytes: [UInt8], pieces: Int) -> [VCardReader.Item] {
    var reader = VCardReader()
    var result: [VCardReader.Item] = []
    var start = 0
    while start < bytes.count {
        let end = min(start + pieces, bytes.count)
        reader.append(Array(bytes[start..<end]))
        while let item = reader.next() { result.append(item) }
        start = end
    }
    reader.finish()
    while let item = reader.next() { result.append(item) }
    return result
}

private func check(_ card: ReadCard) {
    do {
        try card.contact.validate(writing: card.contact.present)
    } catch {
        fatalError("this card cannot be saved: \(error) \(card.contact)")
    }
    for version in [VCardVersion.v3_0, .v4_0] {
        let written = VCardWriter(version: version).card(card.contact)
        let read = items(written, pieces: .max / 2)
        guard case .card(let again)? = read.first, read.count == 1, again.remarks.allSatisfy({ $0.reason == .badDate })
        else {
            fatalError("\(version): \(String(decoding: written, as: UTF8.self))\n\(read)")
        }
        for key in ContactKey.allCases {
            let (one, other) = (part(key, card.contact), part(key, again.contact))
            if one != other { fatalError("\(version): \(String(decoding: written, as: UTF8.self))\n\(one)\n\(other)") }
        }
    }
}

private func part(_ key: ContactKey, _ contact: Contact) -> [String] {
    Mirror(reflecting: contact).children.filter { $0.label == key.rawValue }.map { "\(key) \($0.value)" }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let whole = items(bytes, pieces: .max / 2)
    guard items(bytes, pieces: 7) == whole else { fatalError("the result differs if the bytes are split: \(whole)") }
    for item in whole {
        switch item {
        case .card(let card): check(card)
        case .group(let group):
            let card = VCardWriter(version: .v4_0).group(named: group.name, uid: group.uid, members: group.members)
            guard case .group(let again)? = items(card, pieces: .max / 2).first, again.name == group.name,
                again.uid == group.uid, again.members == group.members
            else { fatalError("\(group)") }
        case .unreadable: break
        }
    }
    return 0
}
