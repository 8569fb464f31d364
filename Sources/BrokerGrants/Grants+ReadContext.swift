import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerLedger

extension Grants {
    /// Creates the context of a permitted call, and what its disclosures need: the key of an app that has none, and the
    /// records of what a contact group shares by policy. The result is `nil` if the app has no key. Only a faulty store
    /// or a libcrypto failure can cause that.
    ///
    /// - Parameter identifiers: the cipher that the call began with; `nil` for the current one.
    package func readContext(
        _ disclosure: Disclosure, _ known: CallerAccess, of session: CallerSession, _ book: ContactsStore?,
        under identifiers: IdentifierCipher? = nil
    ) -> ReadContext? {
        guard let principal = known.principal,
            case .granted(let grant) = known.effective,
            let identifiers = identifiers ?? self.identifiers(for: known, of: session)
        else { return nil }
        notePolicyGroup(known.ruling, known.effective, of: principal)
        return ReadContext(
            disclosure: disclosure, principal: principal, identifiers: identifiers, book: book,
            writableKeys: known.ruling.maximumKeys, changes: grant.changes)
    }

    /// The context for reading without a prompt; `nil` if the app may not read anything.
    package func readContext(
        of session: CallerSession, _ book: ContactsStore? = nil, under identifiers: IdentifierCipher? = nil
    ) -> ReadContext? {
        let known = accessForCall(by: session)
        guard case .permit(let disclosure) = decideAccess(known.effective, mayAsk: false) else { return nil }
        return readContext(disclosure, known, of: session, book, under: identifiers)
    }
}
