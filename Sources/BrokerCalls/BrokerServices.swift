import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerGrants
import BrokerLedger

/// The services that calls need. It creates them, each from those that were created before it. It lives on the event loop.
///
/// Each piece of mutable state has one owner: ``access`` holds grants and the audit, ``grants`` the effective
/// access, ``books`` the contacts, ``prompts`` the open prompts, and ``groupCommit`` the replies that wait
/// for a commit. A service gets the services that it needs and not this object, which would be a retain cycle.
package final class BrokerServices {
    package let surroundings: Surroundings
    package let limits: Limits
    package let access: AccessStore
    package let sessions = Sessions()

    // The audit, executable checks and password requests.
    package let feed: AuditFeed
    package let history: History
    package let groupCommit: GroupCommit
    package let pace: AuditPace
    package let checks: ExecutableChecks
    package let passwords: Passwords

    // Books and effective access.
    package let problems: StoreProblems
    package let recovery: SaveRecovery
    package let books: Books
    package let longReads: LongReads
    package let thumbnails: Thumbnails
    package let grants: Grants
    package let folders: DeclaredFolders
    package let cardDAV: CardDAVAccess
    package let saves: Saves
    package let putBackBound: PutBackBound

    // Prompts, and what the person and administrators read about grants.
    package let descriptions: PromptDescriptions
    package let prompts: Prompts
    package let questions: Questions
    package let described: GrantDescriptions

    /// - Parameters:
    ///   - access: the open access store.
    ///   - disk: syncs committed data; if `nil`, the broker uses the store's own sync.
    package init(
        surroundings: Surroundings, access: AccessStore, disk: (@Sendable (Committed) throws(AccessStoreError) -> Void)?
    ) {
        let surroundings = surroundings.withLogLimit()
        self.surroundings = surroundings
        limits = surroundings.limits
        self.access = access
        access.audit.bounds = limits.audit
        access.audit.isUser = surroundings.isUser
        access.contactsPerRecord = limits.contactsPerAuditRecord

        feed = AuditFeed(surroundings: surroundings, access: access)
        let sync = AccessSync(access: access, surroundings: surroundings, feed: feed, sync: disk)
        history = History(loop: surroundings.loop)
        groupCommit = GroupCommit(surroundings: surroundings, access: access, sync: sync, feed: feed, history: history)
        pace = AuditPace(surroundings: surroundings, access: access)
        checks = ExecutableChecks(surroundings: surroundings, groupCommit: groupCommit)
        passwords = Passwords(surroundings: surroundings, groupCommit: groupCommit, checks: checks)

        problems = StoreProblems(surroundings: surroundings, groupCommit: groupCommit)
        recovery = SaveRecovery(surroundings: surroundings, access: access, groupCommit: groupCommit, history: history)
        let shares = GroupShares(
            surroundings: surroundings, access: access, groupCommit: groupCommit, history: history)
        books = Books(
            surroundings: surroundings, access: access, recovery: recovery, shares: shares, problems: problems)
        longReads = LongReads(
            loop: surroundings.loop, releasesMemoryAfter: limits.releasesLongReadsAfter, problems: problems)
        thumbnails = Thumbnails(surroundings: surroundings, books: books, history: history)
        grants = Grants(
            surroundings: surroundings, access: access, groupCommit: groupCommit, history: history, sessions: sessions,
            books: books, shares: shares)
        folders = DeclaredFolders(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, sessions: sessions,
            history: history)
        cardDAV = CardDAVAccess(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, sessions: sessions,
            history: history)
        saves = Saves(
            surroundings: surroundings, access: access, groupCommit: groupCommit, books: books, grants: grants,
            history: history, recovery: recovery, thumbnails: thumbnails)
        putBackBound = PutBackBound(surroundings: surroundings)

        descriptions = PromptDescriptions(surroundings: surroundings, access: access, books: books, grants: grants)
        prompts = Prompts(surroundings: surroundings, descriptions: descriptions)
        questions = Questions(
            groupCommit: groupCommit, grants: grants, books: books, prompts: prompts, checks: checks, problems: problems
        )
        described = GrantDescriptions(surroundings: surroundings, access: access, grants: grants)
    }

    package var seconds: Int64 { surroundings.seconds }
}

/// A type that uses the broker's services, and may name each of them without `services`.
package protocol UsesServices {
    var services: BrokerServices { get }
}

extension BrokerServices: UsesServices {
    package var services: BrokerServices { self }
}

extension UsesServices {
    /// A copy of many closures and texts, so code that runs often reads `services.surroundings` instead.
    package var surroundings: Surroundings { services.surroundings }
    package var access: AccessStore { services.access }
    package var sessions: Sessions { services.sessions }
    package var feed: AuditFeed { services.feed }
    package var history: History { services.history }
    package var groupCommit: GroupCommit { services.groupCommit }
    package var passwords: Passwords { services.passwords }
    package var problems: StoreProblems { services.problems }
    package var recovery: SaveRecovery { services.recovery }
    package var books: Books { services.books }
    package var longReads: LongReads { services.longReads }
    package var thumbnails: Thumbnails { services.thumbnails }
    package var grants: Grants { services.grants }
    package var folders: DeclaredFolders { services.folders }
    package var cardDAV: CardDAVAccess { services.cardDAV }
    package var saves: Saves { services.saves }
    package var descriptions: PromptDescriptions { services.descriptions }
    package var prompts: Prompts { services.prompts }
    package var described: GrantDescriptions { services.described }
}
