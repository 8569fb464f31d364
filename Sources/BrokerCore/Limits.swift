import BrokerAccessStore

/// What callers may use up. Every queue and every wait of the broker has its bound here.
public struct Limits: Hashable, Sendable {
    /// Contacts read, cut and copied in one turn of the loop: about a millisecond.
    public var contactsPerTurn = 250
    /// Bytes of stored contacts read in one turn.
    public var bytesPerTurn = 1_048_576
    /// Steps of SQLite's machine that one read may take on the loop: a reply of so many contacts takes a third of them. A
    /// longer read is made beside the loop; where this is 0, every one.
    public var stepsPerTurn = 24_000
    /// What one read may take on the loop, as ``stepsPerTurn``. A reply of so many contacts takes longer only where they
    /// are not in memory.
    public var timePerRead = Duration.milliseconds(3)
    /// What reading the steps of one save may take in one turn; the step that exceeds it is the last of its turn.
    public var timePerSave = Duration.microseconds(300)
    /// Cards that the steps of one save may be about, where they name unified contacts each of theirs: five for each step.
    public var cardsPerSave = 10_000
    /// Contacts in the one reply of a caller that did not ask for `more`.
    public var contactsPerReply = 1_000
    /// Bytes of contacts in one reply: a frame holds 16 MiB.
    public var bytesPerReply = 8 * 1_048_576
    /// Bytes of contacts that one reply can hold whatever its limits say: a frame less what stands around them.
    public var largestReply = 15 * 1_048_576
    /// Characters of a name or an address in a line of the agent's list.
    public var rowText = 200
    /// Contacts that an app may come to see by the person's word alone, where more want their password.
    public var contactsWithoutPassword = 25
    /// Open prompts of callers whose names any program of their user can take, as long as none of them granted nothing;
    /// one from then on, until something is granted. Of those that were denied, always.
    public var promptsOfWeakCallers = 4
    /// Contacts named in one audit record; a longer list is recorded as several.
    public var contactsPerAuditRecord = 250
    /// Bytes of a card that an app offers, its image aside.
    public var proposedBytes = 256 * 1_024
    /// Prompts of one user that wait for their turn, the shown one included.
    public var prompts = 16
    /// Calls that wait for one access prompt.
    public var callsPerPrompt = 64
    /// Agents that serve one user, and again as many that are told only how many prompts wait.
    public var agents = 8
    /// How long a prompt waits for the person, from when it was sent to an agent.
    public var promptTimeout = Duration.seconds(120)
    /// How long the person may look through an app's grant that they opened themselves.
    public var ownPromptTimeout = Duration.seconds(600)
    /// How long the person may take to give their password.
    public var passwordTimeout = Duration.seconds(120)
    /// Passwords that are wanted at once for one user.
    public var passwordsPerUser = 4
    /// Of these, so many at the administrator's door, which any program may open: the agent must not have to wait for them.
    public var passwordsAtAdminDoor = 2
    /// Passwords that are wanted at once in all: each question has a thread.
    public var passwords = 64
    /// Characters of an app's name in a question for a password.
    public var appNameInQuestion = 120
    /// How long a prompt waits for an agent.
    public var agentTimeout = Duration.seconds(5)
    /// After a prompt that granted nothing; doubled with each further one.
    public var backOff = Duration.seconds(5)
    public var longestBackOff = Duration.seconds(600)
    public var longestBackOffWhenDenied = Duration.seconds(24 * 3_600)
    /// Apps of one user whose back-off is remembered; past it the one that ends first is forgotten.
    public var backOffs = 1_024
    /// Apps of one user that the person does not want to be asked about again.
    public var silences = 1_024
    /// Disclosure records reach the disk within this time.
    public var syncInterval = Duration.milliseconds(100)
    /// After the start the audit is compared with what the books name after this, so that the first answer does not wait.
    public var checksAnchorsAfter = Duration.seconds(1)
    /// A save that could not be recorded is tried again after this.
    public var retryInterval = Duration.seconds(1)
    /// Deleted and edited text leaves the files after this and a checkpoint, within five seconds in all.
    public var forgetsAfter = Duration.seconds(2)
    /// The memory that saves need is kept so long for the next one.
    public var restsAfter = Duration.seconds(1)
    /// A book is closed when its user's last connection has been gone for so long.
    public var closesBooksAfter = Duration.seconds(300)
    /// What long reads have put in order is kept so long for the next page.
    public var longReadsRestAfter = Duration.seconds(3)
    /// Saves of one user that wait for their turn.
    public var savesWaiting = 1_024
    /// Looks at a caller's executable where nobody can tell whether it is the same, before the call is refused.
    public var looksPerCheck = 3
    /// Between two of them.
    public var lookInterval = Duration.milliseconds(100)
    /// A watcher is told at most so often.
    public var watchInterval = Duration.milliseconds(50)
    /// Addresses and numbers of one call that are looked up to be ignored.
    public var ignoredAddresses = 100
    /// Audit records in one reply of a caller that asked for `more`.
    public var auditRecordsPerBatch = 500
    /// What one app may write of the audit, and when its records are one.
    public var audit = AuditBounds()
    /// Calls of one app that wait because it has used up its share of the audit; further ones are `LimitExceeded`.
    public var callsHeld = 64
    /// Administrators who follow the audit at once.
    public var auditFollowers = 16
    /// A follower is told of new records after this time, of all of them together.
    public var followInterval = Duration.milliseconds(20)

    /// Records that the keeper of a second copy of the audit did not take are offered again after this time.
    public var keeperRetry = Duration.seconds(10)

    public init() {}
}
