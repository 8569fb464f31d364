/// Why the broker refused the person's answer. The agent shows each problem in the person's language.
public enum AnswerProblem: String, CaseIterable, Sendable {
    /// The agent sent what no person can answer to the prompt.
    case malformed
    case contactGone
    /// The app's rules do not let the person pick this contact or value.
    case notSelectable
    case tooLarge
    /// One contact is too large to be shown, or would become too large.
    case contactTooLarge
    /// Too many apps may never ask again.
    case silencesFull
    /// The person has decided about the app at another prompt.
    case alreadyDecided
    case grantEnded
    /// An answer cannot change the lifetime of a grant.
    case lifetimeFixed
    case policyDenies
    /// The policy shares a contact group with the app.
    case policySharesGroup
    /// The policy allows less than the answer gives.
    case policyLimits
    case tooManyGroups
    case notRecorded
    case bookFull
}

/// Why the broker did not ask for the person's password, or got no answer.
public enum PasswordProblem: String, CaseIterable, Sendable {
    /// There is no polkit, and the policy requires a password.
    case noAuthority
    /// No password agent runs that could ask the person.
    case noPasswordAgent
    /// The request or the policy has changed while the person was asked.
    case changed
    case tooManyRequests
    /// Whether the program is still the one that connected is unknown.
    case programUnknown
    case notRecorded
    case timedOut
    /// polkit reported an error.
    case authorityFailed
    case authorityHangs
}

/// Why a folder cannot be declared.
public enum FolderProblem: String, Error, CaseIterable, Sendable {
    /// The system's broker knows no declared folders.
    case sessionOnly
    /// The path begins neither with a slash nor with `~/`.
    case notAbsolute
    case notFound
    case notAFolder
    /// The folder belongs to another user.
    case notOwned
    /// The folder's group or everybody may write into the folder.
    case writableByOthers
    /// The root, the home folder, or a folder that contains it.
    case tooWide
    /// The file system does not record when a folder was created, or the path has unusual characters.
    case unsupported
    /// Too many folders are declared.
    case tooMany
    case notRecorded
}

/// Why a row of the one-time picker cannot be chosen.
public enum RowProblem: String, CaseIterable, Sendable {
    /// The app excludes the contact.
    case excluded
    case lacksKey
    case tooFew
    case tooMany
    case otherFamilyName
}
