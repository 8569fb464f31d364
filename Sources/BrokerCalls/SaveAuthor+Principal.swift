import BrokerAccessControl
import BrokerContactsStore

extension SaveAuthor {
    /// An app, as the audit names it.
    package init(_ principal: Principal) {
        self.init(
            app: principal.app, strength: principal.strength.rawValue, isAssumable: principal.strength.isAssumable)
    }
}
