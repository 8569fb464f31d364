import ArgumentParser
import BrokerAccessControl
import BrokerCommandOutput
import BrokerPolicy
import BrokerTrustedFiles

/// The policy files that a command reads.
struct PolicyFiles: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Policy files, folders of policy files, or a folder with policy.d.", valueName: "file"),
        completion: .file())
    var files: [String]

    /// Names the files that are next to policy files and that nothing reads: their rules do nothing.
    static func say(unread files: [String]) {
        for file in files {
            Speech.say(
                "not read: \(Speech.clean(file)); the name of a policy file ends in .toml and begins with no dot")
        }
    }

    /// Reads the files as the broker does, and prints each mistake as `FILE:LINE: KEY: REASON`.
    ///
    /// - Parameter task: the command's task, phrased to follow `could not`.
    /// - Returns: the texts, and their rules.
    func read(to task: String) throws -> (texts: [PolicyText], rules: [Rule]) {
        var texts: [PolicyText] = []
        var mistakes: [TrustedFileError] = []
        for file in files {
            do throws(TrustedFileError) {
                guard let draft = try PolicyDraft(file) else {
                    throw TrustedFileError(file: file, reason: "there is no such file or folder")
                }
                texts += draft.texts
                Self.say(unread: draft.unread)
                mistakes += draft.unreadable
                if draft.texts.isEmpty, draft.unreadable.isEmpty {
                    throw TrustedFileError(file: file, reason: "the folder has no files *.toml")
                }
            } catch {
                mistakes.append(error)
            }
        }
        let reader = PolicyReader.read(texts)
        mistakes += reader.problems
        for mistake in mistakes { print(Speech.clean(mistake.description)) }
        guard mistakes.isEmpty else {
            throw CommandFailure(
                "could not \(task): \(Count.words(mistakes.count, "mistake")), listed above",
                try: "a reload with a mistake keeps the former rules; a start with a mistake refuses every app",
                .refused)
        }
        return (texts, reader.policy.rules)
    }
}
