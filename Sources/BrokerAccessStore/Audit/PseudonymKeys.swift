import BrokerDisclosure
import BrokerModel
import BrokerSQLite

/// The keys of the contacts' pseudonyms in the audit, one for each user.
public final class PseudonymKeys {
    private var keys: [UInt32: Pseudonyms]
    private var unwritten: Set<UInt32> = []
    private let owners: Owners
    /// An error that makes it impossible to commit the batch.
    var failure: AccessStoreError?

    init(_ keys: [UInt32: Pseudonyms], owners: Owners) {
        self.keys = keys
        self.owners = owners
    }

    /// Returns a contact's pseudonym in the audit, 32 hexadecimal digits; an empty string if libcrypto fails.
    /// The pseudonym is the same for every app of the user.
    public func pseudonym(of record: RecordNumber, uid: UInt32) -> String {
        Hexadecimal.text(pseudonyms(of: [record], uid: uid) ?? [])
    }

    /// Returns the contacts' pseudonyms, concatenated; `nil` if libcrypto fails. The batch then cannot be
    /// committed, because a record would lack its pseudonyms.
    func pseudonyms(of records: [RecordNumber], uid: UInt32) -> [UInt8]? {
        if keys[uid] == nil, let key = IdentifierCipher.randomKey() {
            keys[uid] = Pseudonyms(key: key)
            // During a purge the new key is never written. Nobody can then link the pseudonyms to contacts.
            if !owners.isPurged(uid) { unwritten.insert(uid) }
        }
        let made = keys[uid]?.pseudonyms(of: records)
        if made == nil { failure = .unavailable(reason: "libcrypto has no randomness or no memory") }
        return made
    }

    /// Forgets a user's key.
    func purge(_ uid: UInt32) {
        keys[uid] = nil
        unwritten.remove(uid)
    }

    // MARK: Commits

    var hasUncommitted: Bool { !unwritten.isEmpty || failure != nil }

    func write(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten {
            try connection.statement("INSERT INTO auditKey (uid, key) VALUES (?, ?)")
                .bind(1, Int64(uid)).bind(2, keys[uid]?.key).run()
        }
    }

    func committed() {
        unwritten.removeAll()
        failure = nil
    }

    /// New keys are kept: the next commit writes them.
    func rolledBack() { failure = nil }
}
