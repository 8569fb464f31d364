import BrokerAccessControl
import BrokerDisclosure

extension AccessStore {
    /// Returns a principal's identifier cipher; `nil` if the principal has no key. Without a key, no
    /// identifier that the principal sends is valid.
    ///
    /// - Parameter sharesPersistentKey: true for an app: its sessions and processes share its identifiers.
    ///   False for an interpreter: each of its sessions and processes has its own key, which exists in memory
    ///   only.
    public func identifiers(for principal: Principal, sharesPersistentKey: Bool) -> IdentifierCipher? {
        identifierKeys[sharesPersistentKey ? principal.bound(to: .persistent) : principal]?.cipher
    }

    /// Returns a principal's identifier cipher and makes a key if there is none. A new key joins the batch.
    public func makeIdentifiers(
        for principal: Principal, sharesPersistentKey: Bool
    ) throws(AccessStoreError) -> IdentifierCipher {
        let owner = sharesPersistentKey ? principal.bound(to: .persistent) : principal
        if let key = identifierKeys[owner] { return key.cipher }
        guard let bytes = IdentifierCipher.randomKey(), let cipher = IdentifierCipher(key: bytes) else {
            throw .unavailable(reason: "libcrypto has no randomness or no memory")
        }
        identifierKeys[owner] = IdentifierKey(bytes: bytes, cipher: cipher)
        batch.identifiers.insert(owner)
        noteDecision()
        mark(owner, .rows(added: [], removed: []))
        return cipher
    }

    /// Whether the principal is an interpreter in one terminal session or process: only an interpreter gets a
    /// separate identifier key for each of them.
    public func isInterpreter(_ principal: Principal) -> Bool {
        principal.binding != .persistent && identifiers(for: principal, sharesPersistentKey: false) != nil
    }
}
