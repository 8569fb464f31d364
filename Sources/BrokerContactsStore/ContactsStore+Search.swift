import BrokerModel

/// The person's search, and look-ups of known records.
extension ContactsStore {
    /// Searches contacts for the person's agent. Each typed word must be the beginning of a word in the
    /// names, the nickname, the organisation or an e-mail address. Digits may also be part of a phone number.
    /// A text without words finds all contacts.
    public func search(_ search: PersonSearch, _ manner: ReadingManner = .whole) throws(StoreError) -> PersonFound {
        // The search counts all matches, so in a large book it takes too long for the event loop.
        let isLong = size > ContactQuery.mostOnLoop
        if manner == .bounded, isLong || stepsOnLoop == 0 { throw .takesLong }
        return try read(manner) { try $0.search(search) }
    }

    /// Returns the first contacts, by record number, whose photos wait for a thumbnail. Do not call this on the event loop.
    public func photographed(limit: Int) throws(StoreError) -> [RecordNumber] {
        try write { try $0.photographed(limit: limit) }
    }

    /// Returns the total size of these contacts' photos and thumbnails in bytes, without reading the images.
    /// Counts only images whose key is in `keys`. Do not call this on the event loop.
    public func photoSize(of records: Set<RecordNumber>, _ keys: ContactKeySet) throws(StoreError) -> Int {
        if keys.isDisjoint(with: .images) { return 0 }
        return try read(.onWorker) { try $0.photoSize(of: records, keys) }
    }

    /// Returns those of the given records that exist in the book.
    public func existing(_ records: some Sequence<RecordNumber>) throws(StoreError) -> Set<RecordNumber> {
        try read { reader in
            try reader.inOneRead { try Set(records.filter { try reader.exists($0.rawValue) }) }
        }
    }
}
