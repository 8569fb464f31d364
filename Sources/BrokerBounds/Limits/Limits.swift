/// The bounds of the broker's queues, waits and replies. Documentation/Limits.md says what happens when one is exceeded.
public struct Limits: Hashable, Sendable {
    // MARK: Prompts

    /// Open prompts of one user, including those shown.
    public var prompts = 16
    /// The part of ``prompts`` that weakly identified callers may use together if they were never approved.
    /// Prompts of callers that the person denied are counted separately, up to the same number.
    public var promptsOfWeakCallers = 4
    /// Prompts that the callers in one bucket of `Crowd` may queue in ``weakPromptsPeriod``. Further prompts
    /// are quiet.
    public var weakPrompts = 8
    public var weakPromptsPeriod = Duration.seconds(600)
    /// After this many shown prompts in a bucket were withdrawn, the next one is held. The count starts again
    /// after ``weakPromptsPeriod`` without a withdrawal.
    public var withdrawalsWithoutHold = 2
    /// How long the next prompt is held at first. Each further withdrawal doubles this time, up to
    /// ``longestWithdrawalHold``.
    public var withdrawalHold = Duration.seconds(2)
    public var longestWithdrawalHold = Duration.seconds(60)
    /// The maximum number of approvals remembered for one user. Beyond it, the oldest approval is removed.
    public var approvals = 1_024
    /// The maximum number of terminal sessions per user with a separate bucket. Beyond it, the session with
    /// the oldest approval loses its bucket.
    public var approvedSessions = 64
    /// Calls that wait for one access prompt.
    public var callsPerPrompt = 64
    /// Agents that may serve one user at once. Notify-only agents have a separate limit of the same size.
    public var agents = 8
    /// How long a prompt stays open after it was sent to an agent, and again after each key that the person
    /// presses.
    public var promptTimeout = Duration.seconds(120)
    /// The maximum time that keys can keep a prompt open, counted from when it was first sent to an agent.
    public var longestPromptTime = Duration.seconds(600)
    /// How long a manage prompt that the person opened stays open.
    public var ownPromptTimeout = Duration.seconds(600)
    /// How long a prompt waits for an agent.
    public var agentTimeout = Duration.seconds(5)
    /// How long a prompt waits for an agent if the person can probably start one, because a notify-only agent
    /// is connected or the person is logged in.
    public var agentTimeoutWithPerson = Duration.seconds(120)
    /// After a prompt of an app was announced to notify-only agents, the app's further prompts are not
    /// announced for this time.
    public var notifiesAgainAfter = Duration.seconds(600)
    /// How many changes of one access button's query the broker sends to agents in a second.
    public var queryChangesPerSecond = 2
    /// How many of the ignored e-mail addresses of one access button the broker looks up, the first ones. The same
    /// limit applies to its ignored phone numbers.
    public var ignoredAddresses = 100
    /// The wait after the second prompt in a row that granted nothing. It doubles with each further one.
    public var backOff = Duration.seconds(5)
    public var longestBackOff = Duration.seconds(600)
    public var longestBackOffWhenDenied = Duration.seconds(24 * 3_600)
    /// Back-off entries per user. A further entry replaces the one that ends first.
    public var backOffs = 1_024
    /// Apps per user for which the person chose never to be asked again.
    public var silences = 1_024
    /// Folders that one user may have declared at a time.
    public var declaredFolders = 16
    /// How long the declaration of a folder lasts.
    public var declaredFolderLasts = Duration.seconds(7 * 86_400)

    // MARK: Connections of programs that speak CardDAV

    /// Connections that one user may have.
    public var cardDAVConnections = 32
    /// The longest wait for the answer to a wrong password.
    public var longestWrongPasswordWait = Duration.seconds(5)
    /// Wrong passwords of one user within ``wrongPasswordsWithin`` that are answered at once. A right one never waits.
    public var wrongPasswords = 5
    public var wrongPasswordsWithin = Duration.seconds(60)
    /// How long the password of a connection without a grant still opens an empty address book.
    public var lapsedConnection = Duration.seconds(30 * 86_400)

    // MARK: Passwords

    /// Contacts that the person may share with an app without a password.
    public var contactsWithoutPassword = 25
    /// Within this time, all apps of strength `installed`, `claimed`, `unverified` and `declared` of one user
    /// together get at most ``contactsWithoutPassword`` different contacts without a password. Picks count too.
    public var passwordFreePeriod = Duration.seconds(24 * 3_600)
    /// How long the person may take to enter a password.
    public var passwordTimeout = Duration.seconds(120)
    /// Open password requests per user.
    public var passwordsPerUser = 4
    /// The part of ``passwordsPerUser`` that the administrator's socket may use. Any program may connect to
    /// that socket. This limit prevents such programs from blocking the agent's requests.
    public var passwordsAtAdminSocket = 2
    /// Open password requests in total. Each uses one thread.
    public var passwords = 64

    // MARK: Calls

    /// Cards that the steps of one save may name. Each card of a unified contact counts. The limit allows
    /// five cards per step in a save of 2,000 steps.
    public var cardsPerSave = 10_000
    /// Contacts in the reply to a call without `more`.
    public var contactsPerReply = 1_000
    /// Bytes of stored contacts that are read for the reply to a call without `more`, or for one pick. The
    /// maximum size of a frame is 16 MiB.
    public var bytesPerReply = 8 * 1_048_576
    /// Bytes of a card that an app proposes, without its image.
    public var proposedBytes = 256 * 1_024
    /// Waiting saves per user.
    public var savesWaiting = 1_024
    /// Waiting calls of one app that has used up its share of the audit. Further calls fail with
    /// `LimitExceeded`.
    public var callsHeld = 64
    /// Calls that may follow the audit at once.
    public var auditFollowers = 16
    /// Inspections per executable check. If even the last one has an unknown result, the call is refused.
    public var inspectionsPerCheck = 3
    /// The delay between two inspections of one executable check.
    public var inspectionInterval = Duration.milliseconds(100)
    /// How long a book stays open after its user's last connection has closed.
    public var closesBooksAfter = Duration.seconds(300)
    /// How much disk space one user's book may use.
    public var space = SpaceBounds()
    /// How much of the audit one app may use, and the length of the deduplication windows.
    public var audit = AuditBounds()
    /// How much of the audit is kept. By default all of it.
    public var retention = RetentionBounds()

    // MARK: Internal: slices of work, so that one caller does not delay the others

    /// Contacts that one event loop iteration reads, projects and copies. This takes about a millisecond.
    public var contactsPerIteration = 250
    /// Grants that one event loop iteration ends, in a reset of many apps.
    public var grantsPerIteration = 64
    /// Bytes of stored contacts read in one event loop iteration.
    public var bytesPerIteration = 1_048_576
    /// SQLite virtual machine steps that one read may take on the event loop. A full reply takes about a
    /// third of them. A worker performs the reads that need more steps. If the limit is 0, a worker performs
    /// all reads.
    public var stepsPerIteration = 24_000
    /// Time that one read may take on the event loop. A worker performs the reads that take longer. A full
    /// reply takes longer only if its contacts are not in memory.
    public var timePerRead = Duration.milliseconds(3)
    /// Time that one event loop iteration may spend on reading the steps of one save. The step that exceeds
    /// this time is the last one of the iteration.
    public var timePerSave = Duration.microseconds(300)
    /// Contacts named in one audit record. A longer list is split into several records.
    public var contactsPerAuditRecord = 250
    /// Audit records in one reply to a call with `more`, or sent to the audit keeper at once.
    public var auditRecordsPerBatch = 500
    /// Removed audit records that are deleted at once, and the pause after them. A call waits for at most one such
    /// transaction.
    public var recordsPerDeletion = 100
    public var deletionPause = Duration.milliseconds(10)

    // MARK: Internal: what a reply shows, and how soon

    /// Bytes of contacts in one reply. With this limit, the rest of the reply fits into the same frame.
    public var largestReply = 15 * 1_048_576
    /// Characters of a name or an address in a row of the agent's list.
    public var rowText = 200
    /// Characters of an app's name in a password dialog.
    public var appNameInQuestion = 120
    /// Former queries of an access button for which an agent may still search.
    public var formerQueries = 20
    /// The maximum number of books that the status lists, largest first.
    public var booksInStatus = 64
    /// The broker tells agents at most once in this time that an app's access was changed or used.
    public var accessPause = Duration.seconds(1)
    /// The shortest interval between two replies to a watcher.
    public var watchInterval = Duration.milliseconds(50)
    /// How often a caller with `more` learns how far a read of the audit is. It must be far less than the 180 seconds for
    /// which contactctl waits for a reply.
    public var progressInterval = Duration.seconds(1)
    /// The delay before a follower gets new records. Records that are committed meanwhile go into the same
    /// reply.
    public var followInterval = Duration.milliseconds(20)

    // MARK: Internal: when the broker does its own work

    /// The longest delay between the commit of an audit record and the start of its sync. If another sync is
    /// running at that time, the start is later.
    public var syncInterval = Duration.milliseconds(100)
    /// How long after its start the broker compares the audit with the books' anchors, and reads earlier alarms. The
    /// delay lets the first replies go out before.
    public var readsAuditAfter = Duration.seconds(1)
    /// How often the broker reports the audit's last record to the journal.
    public var auditHeadInterval = Duration.seconds(3_600)
    /// How long after its start the broker first looks for alarms, and how long until it does again.
    public var alarmsAfter = Duration.seconds(600)
    public var alarmInterval = Duration.seconds(24 * 3_600)
    /// How long after its start the broker first looks for audit records to remove, and how long until it does again.
    public var retentionAfter = Duration.seconds(900)
    public var retentionInterval = Duration.seconds(3_600)
    /// How often an open book deletes what is too old for its bin.
    public var binInterval = Duration.seconds(3_600)
    /// The delay before the broker retries to commit the audit record of a save.
    public var retryInterval = Duration.seconds(1)
    /// The delay before a checkpoint removes deleted and edited text from the files. The documentation
    /// promises five seconds, which include the checkpoint itself.
    public var checkpointsAfter = Duration.seconds(2)
    /// How long the memory that a save used is kept for the next save.
    public var releasesMemoryAfter = Duration.seconds(1)
    /// How long the memory of long reads, such as sorted lists, is kept for the next page.
    public var releasesLongReadsAfter = Duration.seconds(3)
    /// The delay before the broker retries to send records that the audit keeper did not take.
    public var keeperRetry = Duration.seconds(10)
    /// The pause after a full batch of records, for the audit keeper.
    public var keeperPause = Duration.milliseconds(100)

    public init() {}

    /// Sets the bounds of a book's space, in bytes.
    public mutating func setSpace(book: Int64, perApp: Int64) { (space.book, space.app) = (book, perApp) }
}
