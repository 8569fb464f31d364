import BrokerAccessControl
import BrokerDisclosure
import BrokerModel

extension AccessStore {
    /// The identifiers of a principal; `nil` where no key was ever made for it: nothing it says names anything.
    ///
    /// - Parameter sharesStandingKey: true for an app, whose sessions and processes name contacts as it does itself; false
    ///   for an interpreter, of which each session and process has a key of its own, in memory only.
    public func identifiers(for principal: Principal, sharesStandingKey: Bool) -> IdentifierCipher? {
        identifierKeys[sharesStandingKey ? principal.bound(to: .standing) : principal]?.cipher
    }

    /// The identifiers of a principal, with a new key where there is none. A new key joins the batch.
    public func makeIdentifiers(
        for principal: Principal, sharesStandingKey: Bool
    ) throws(AccessStoreError) -> IdentifierCipher {
        let owner = sharesStandingKey ? principal.bound(to: .standing) : principal
        if let key = identifierKeys[owner] { return key.cipher }
        guard let bytes = IdentifierCipher.randomKey(), let cipher = IdentifierCipher(key: bytes) else {
            throw .unavailable(reason: "libcrypto has no randomness or memory to give")
        }
        identifierKeys[owner] = IdentifierKey(bytes: bytes, cipher: cipher)
        batch.identifiers.insert(owner)
        noteDecision()
        mark(owner, .rows(added: [], removed: []))
        return cipher
    }

    /// What a contact is called in the audit, in 32 hexadecimal digits: the same for every app of the user.
    public func pseudonym(of record: RecordNumber, uid: UInt32) -> String {
        Hexadecimal.text(pseudonyms(of: [record], uid: uid) ?? [])
    }

    /// `nil` where they cannot be made; the batch then cannot be committed, because a record would lack them.
    func pseudonyms(of records: [RecordNumber], uid: UInt32) -> [UInt8]? {
        if pseudonyms[uid] == nil, let key = IdentifierCipher.randomKey() {
            pseudonyms[uid] = Pseudonyms(key: key)
            // What still ends while a user is purged leaves nothing by which their contacts could be told again.
            if owners[uid]?.isPurged != true { unwritten.pseudonyms.insert(uid) }
        }
        let made = pseudonyms[uid]?.pseudonyms(of: records)
        if made == nil { batch.failure = .unavailable(reason: "libcrypto has no randomness or memory to give") }
        return made
    }
}
