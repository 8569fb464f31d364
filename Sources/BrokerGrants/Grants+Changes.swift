import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerLedger
import BrokerModel

/// The bound on what all apps of a user change together that the user's other programs can imitate. One program can act as many
/// apps, so a bound for each app would not restrict it.
extension Grants {
    /// Whether changing or deleting these contacts needs the person's password: without it, such apps change
    /// ``Limits/contactsWithoutPassword`` different ones in ``Limits/passwordFreePeriod``. Always `false` where no answer needs one,
    /// as in session mode.
    package func changesMany(_ contacts: Set<RecordNumber>, by caller: Caller) -> Bool {
        countsChanges(by: caller)
            && access.changed.pass(
                surroundings.limits.contactsWithoutPassword, with: contacts, of: caller.uid, since: changePeriodStart)
    }

    /// Counts contacts that an app changes or deletes without a password.
    package func noteChanged(_ contacts: Set<RecordNumber>, by caller: Caller) {
        guard countsChanges(by: caller) else { return }
        access.changed.note(contacts, of: caller.uid, now: surroundings.seconds, keepingSince: changePeriodStart)
    }

    package func countsChanges(by caller: Caller) -> Bool {
        caller.strength.isAssumable && policy.need(for: .much) != .nothing
    }

    /// Cards that the app added since then do not count. Seconds since 1970.
    package var changePeriodStart: Int64 {
        surroundings.seconds - surroundings.limits.passwordFreePeriod.components.seconds
    }
}
