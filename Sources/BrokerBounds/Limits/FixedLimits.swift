/// Limits on what the databases keep for each user, and on what a contact or an app may have there.
public enum StoreLimits {
    /// Cards in one set of linked cards. The limit is small because the change history records each pair of linked
    /// cards as one change.
    public static let linkedCards = 64
    /// Cards that a group shares. The event loop reads them, so their number is bounded. Of a larger group, only the
    /// oldest cards are shared.
    public static let sharedMembers = 2_000
    /// Contact groups that one grant shares with an app.
    public static let groupsPerGrant = 20
    /// The time for which changes of a book, and of the set of a grant, are kept, in seconds.
    public static let history: Int64 = 30 * 86_400
    /// Changes kept for the set of one grant. If there are more, the store drops all of them, and the app reads
    /// everything again.
    public static let setEvents = 50_000

    // MARK: Internal: what is kept in memory; beyond it the broker reads again, or does the work later

    /// Saves that may wait for a successful commit of the audit; further saves are refused.
    public static let undeliveredSaves = 1_024
    /// Contacts that apps got without a password, stored for one user; beyond it, the oldest entries are dropped. If the
    /// broker can ask for a password, it does so long before a user reaches this limit.
    public static let unconfirmedContacts = 256
    /// Photos decoded at the same time, at most one for each user.
    public static let thumbnailsAtOnce = 2
    /// Contacts of one user whose photos wait in memory. Further ones wait until the book is opened again.
    public static let thumbnailsWaiting = 100_000
    /// Changes that were not checked yet for one app that watches. With more, its next request queries the book.
    public static let pendingChanges = 4_096
    /// Apps for which such changes are kept.
    public static let tails = 4_096
    /// Apps whose alarms are remembered. Without space the oldest are forgotten, and may be raised again.
    public static let alarms = 4_096
    /// Apps whose reads are counted at the same time. The one whose hour began first is no longer counted.
    public static let appsCounted = 64
}

/// Limits on the processes that the broker inspects.
public enum InspectionLimits {
    /// Inspections of one user at once, and as many checks of connected processes, in system mode.
    public static let perUser = 2
    /// The same in session mode, in which there is only one user.
    public static let perUserInSession = 6
    /// Inspections of new connections at once. The helper has a worker process (`IDENTIFY_WORKERS`) for each of them, and for each
    /// of ``checks``.
    public static let identifications = 16
    /// Checks of connected processes at once.
    public static let checks = 8
    /// Inspections of one user in a row, and then in a second, in system mode.
    public static let perSecond = 200
    /// Known user IDs in the cache; it is emptied beyond that.
    public static let knownUsers = 16_384

    // MARK: Internal: a cache, which only saves time

    /// Names of users in the cache; it is emptied beyond that.
    public static let userNames = 256
}

/// Limits on messages in the journal that callers can cause.
public enum LogLimits {
    /// For this time further messages are counted, and then reported as one.
    public static let window = Duration.seconds(60)
    /// Different messages that are tracked at once. Further ones are counted together.
    public static let messages = 64
    /// Messages about one user's refused and closed connections.
    public static let refusals = 20
    /// Users whose refused connections are tracked at once. All other users count as one.
    public static let users = 256
}

/// Limits on the files that control the broker. Sizes are bytes.
public enum FileLimits {
    public static let policyFile = 1_048_576
    /// The files of a policy, also of one that is only tried.
    public static let policyFiles = 256
    public static let rulesPerFile = 1_000
    public static let manifest = 65_536
    public static let manifests = 1_024
    public static let executablesPerManifest = 64
    /// The name of an app in its manifest.
    public static let manifestName = 100
}
