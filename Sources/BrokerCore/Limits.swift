import BrokerAccessStore

/// Resource limits. Every queue and every wait of the broker has its bound here.
public struct Limits: Hashable, Sendable {
    /// Contacts read, projected and copied in one event loop iteration: about a millisecond.
    public var contactsPerIteration = 250
    /// Bytes of stored contacts read in one event loop iteration.
    public var bytesPerIteration = 1_048_576
    /// SQLite virtual machine steps that one read may take on the event loop. A full reply takes a third of them. A
    /// worker makes longer reads; with 0, all reads.
    public var stepsPerIteration = 24_000
    /// Time that one read may take on the event loop, like ``stepsPerIteration``. A full reply takes longer only if its
    /// contacts are not in memory.
    public var timePerRead = Duration.milliseconds(3)
    /// Time to read the steps of one save in one event loop iteration. The step that exceeds it is the last of its
    /// iteration.
    public var timePerSave = Duration.microseconds(300)
    /// Cards that the steps of one save may name, each card of a unified contact counted: five per step.
    public var cardsPerSave = 10_000
    /// Contacts in a single reply, for a caller that did not ask for `more`.
    public var contactsPerReply = 1_000
    /// Bytes of contacts in one reply. A frame holds 16 MiB.
    public var bytesPerReply = 8 * 1_048_576
    /// Bytes of contacts that fit into a frame beside the rest of the reply. No reply is larger.
    public var largestReply = 15 * 1_048_576
    /// Characters of a name or an address in a row of the agent's list.
    public var rowText = 200
    /// Contacts that the person may share with an app without a password.
    public var contactsWithoutPassword = 25
    /// Open prompts of weakly identified callers, as long as no prompt of theirs granted nothing. After that the
    /// limit is one, until a prompt grants something. For denied callers the limit stays at this number.
    public var promptsOfWeakCallers = 4
    /// Contacts named in one audit record; a longer list is recorded as several.
    public var contactsPerAuditRecord = 250
    /// Bytes of a card that an app proposes, without its image.
    public var proposedBytes = 256 * 1_024
    /// Open prompts of one user, including those shown.
    public var prompts = 16
    /// Calls that wait for one access prompt.
    public var callsPerPrompt = 64
    /// Agents that serve one user, and the same number of notify-only agents.
    public var agents = 8
    /// How long a prompt waits for the person after it was sent to an agent.
    public var promptTimeout = Duration.seconds(120)
    /// How long a manage prompt stays open that the person opened.
    public var ownPromptTimeout = Duration.seconds(600)
    /// How long the person may take to enter a password.
    public var passwordTimeout = Duration.seconds(120)
    /// Open password requests per user.
    public var passwordsPerUser = 4
    /// The part of ``passwordsPerUser`` for the administrator's socket, which any program may open: it must not block
    /// the agent.
    public var passwordsAtAdminSocket = 2
    /// Open password requests in total: each has a thread.
    public var passwords = 64
    /// Characters of an app's name in a password dialog.
    public var appNameInQuestion = 120
    /// How long a prompt waits for an agent.
    public var agentTimeout = Duration.seconds(5)
    /// The wait after a prompt that granted nothing. It doubles with each further one.
    public var backOff = Duration.seconds(5)
    public var longestBackOff = Duration.seconds(600)
    public var longestBackOffWhenDenied = Duration.seconds(24 * 3_600)
    /// Back-off entries per user; beyond it the one that ends first is removed.
    public var backOffs = 1_024
    /// Apps per user that the person does not want prompts from.
    public var silences = 1_024
    /// How soon after the commit disclosure records are synced.
    public var syncInterval = Duration.milliseconds(100)
    /// The delay before the audit is compared with the books' anchors after the start, so that it does not delay the
    /// first reply.
    public var checksAnchorsAfter = Duration.seconds(1)
    /// The delay before a save that could not be recorded is retried.
    public var retryInterval = Duration.seconds(1)
    /// The delay before a checkpoint removes deleted and edited text from the files; with the checkpoint, at most
    /// five seconds.
    public var checkpointsAfter = Duration.seconds(2)
    /// How long memory used by saves is kept for the next save.
    public var releasesMemoryAfter = Duration.seconds(1)
    /// How long after its user's last connection a book is closed.
    public var closesBooksAfter = Duration.seconds(300)
    /// How long sorted lists of long reads are kept for the next page.
    public var releasesLongReadsAfter = Duration.seconds(3)
    /// Waiting saves per user.
    public var savesWaiting = 1_024
    /// Inspections of a caller's executable with an unknown result before the call is refused.
    public var inspectionsPerCheck = 3
    /// The delay between two inspections.
    public var inspectionInterval = Duration.milliseconds(100)
    /// The shortest interval between two replies to a watcher.
    public var watchInterval = Duration.milliseconds(50)
    /// Ignored addresses, and as many ignored numbers, that are looked up for one call.
    public var ignoredAddresses = 100
    /// Audit records in one reply of a caller that asked for `more`.
    public var auditRecordsPerBatch = 500
    /// One app's share of the audit, and the deduplication windows.
    public var audit = AuditBounds()
    /// Waiting calls of one app that has used up its share of the audit. Further calls fail with `LimitExceeded`.
    public var callsHeld = 64
    /// Administrators that follow the audit at once.
    public var auditFollowers = 16
    /// The delay before a follower gets new records, all of them in one reply.
    public var followInterval = Duration.milliseconds(20)

    /// The delay before records that the audit keeper did not take are sent again.
    public var keeperRetry = Duration.seconds(10)

    public init() {}
}
