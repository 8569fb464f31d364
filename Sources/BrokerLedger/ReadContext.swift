import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerModel

/// The context of one permitted call: the permitted disclosure, the principal and the book.
package struct ReadContext {
    package let disclosure: Disclosure
    package let principal: Principal
    package let identifiers: IdentifierCipher
    /// `nil` if the user has no book yet.
    package let book: ContactsStore?
    /// Keys that the policy lets the caller write into a new contact.
    package let writableKeys: ContactKeySet
    /// What the caller may change.
    package var changes: ChangeRight

    package init(
        disclosure: Disclosure, principal: Principal, identifiers: IdentifierCipher, book: ContactsStore?,
        writableKeys: ContactKeySet, changes: ChangeRight
    ) {
        self.disclosure = disclosure
        self.principal = principal
        self.identifiers = identifiers
        self.book = book
        self.writableKeys = writableKeys
        self.changes = changes
    }

    /// The grant that the reply depends on.
    package var basis: DisclosedReply.Basis {
        DisclosedReply.Basis(principal: principal, revision: disclosure.revision)
    }

    /// The changes to the book that the caller may see.
    package var changeScope: ChangeScope {
        ChangeScope(records: disclosure.scope, keys: disclosure.keys, app: identifiers.mark)
    }
}
