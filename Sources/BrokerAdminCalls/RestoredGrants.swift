import BrokerAccessControl
import BrokerAccessStore
import BrokerCalls
import BrokerGrants
import BrokerLedger
import BrokerModel

/// Restores the grants of a backup. It lives on the event loop.
///
/// A restore never gives an app more access than it has: what was revoked after the backup stays revoked. Only a
/// user of whom the broker knows nothing, as on a new machine, gets the grants and identifier keys of the backup.
struct RestoredGrants: UsesServices {
    struct Counts {
        /// The apps whose grant is that of the backup.
        var restored = 0
        /// The apps that had more access before the restore.
        var lowered = 0
        /// The apps that have no access now, and had some when the backup was made.
        var asking = 0
    }

    let services: BrokerServices

    /// - Parameters:
    ///   - isNew: whether the broker knew nothing of the user before the restore.
    ///   - records: the contacts of the restored book.
    func restore(
        _ contents: RestoreStage.Contents, of uid: UInt32, isNew: Bool, _ source: AdministratorSource
    ) -> Counts {
        var counts = Counts()
        for app in contents.apps {
            let principal = app.principal(of: uid)
            if isNew {
                if let key = app.identifierKey { _ = access.restoreIdentifierKey(key, for: principal) }
                if let since = app.silencedSince { access.silences.silence(principal, now: since) }
            }
            guard var restored = app.grant, !restored.hasExpired(at: services.seconds) else { continue }
            restored = limited(restored, to: contents)
            if let present = access.grant(of: principal) {
                counts.lowered += lower(present, of: principal, to: restored, contents, source) ? 1 : 0
            } else if isNew, surroundings.wantsPasswords, principal.strength != .declared {
                counts.restored += 1
                give(restored, to: principal, app.displayName, contents, source)
            } else if restored.access != .denied {
                counts.asking += 1
            }
        }
        grants.scheduleExpiry()
        return counts
    }

    /// The grant without contacts and groups that the backup does not have.
    private func limited(_ grant: Grant, to contents: RestoreStage.Contents) -> Grant {
        var grant = grant
        grant.own.formIntersection(contents.records)
        guard case .limited(let set) = grant.access else { return grant }
        grant.access = .limited(to: set.intersection(contents.records))
        grant.groups.records.formIntersection(contents.groups)
        grant.groups.joined.formIntersection(contents.records)
        grant.groups.withheld.formIntersection(contents.records)
        return grant
    }

    private func lower(
        _ present: Grant, of principal: Principal, to restored: Grant, _ contents: RestoreStage.Contents,
        _ source: AdministratorSource
    ) -> Bool {
        var grant = present.narrowed(to: restored)
        guard grant != present else { return false }
        grant.revision = access.nextRevision()
        grant.decidedThrough = words(contents, source, principal.uid)
        GrantChanges(services: services).lower(principal, grant, source)
        return true
    }

    private func give(
        _ restored: Grant, to principal: Principal, _ displayName: String, _ contents: RestoreStage.Contents,
        _ source: AdministratorSource
    ) {
        var grant = restored
        grant.revision = access.nextRevision()
        grant.decidedThrough = words(contents, source, principal.uid)
        grants.settle(
            grant, for: principal, displayName: displayName.isEmpty ? principal.app : displayName,
            sharesPersistentKey: true, author: words(contents, source, principal.uid)
        ) { _ in }
    }

    private func words(_ contents: RestoreStage.Contents, _ source: AdministratorSource, _ uid: UInt32) -> String {
        "restored from the backup of \(contents.header.time), " + source.words(for: uid)
    }
}
