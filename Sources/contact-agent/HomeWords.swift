import BrokerFormatting
import BrokerModel

/// The lines of the main screen that say what happened, and what waits.
struct HomeWords {
    let names: LocalizedNames

    /// Describes the outcome in one line.
    ///
    /// - Parameter chosen: the first of the contacts that the answer shares.
    func words(for answer: Answer, _ prompt: Prompt, _ app: String, _ chosen: Row?) -> String {
        if answer.contacts == 1, answer.removed == nil, let chosen {
            return names.text(.sharedOne, [.name: Columns.clip(chosen.name, to: 40), .app: app])
        }
        if prompt.kind == .manage { return ManageDialogue.words(for: answer, app, names) }
        if answer.takesCard { return names.text(.cardTaken, [.app: app]) }
        if prompt.kind == .keys, let keys = answer.keys {
            let words = GrantedKeys.words(for: keys, names) ?? names.text(.nothing)
            return names.text(.keysGiven, [.app: app, .keys: words])
        }
        if prompt.kind == .change, let words = words(forChange: answer, prompt, app) { return words }
        if let picked = answer.picked { return names.text(.gavePicked, count: picked.count, [.app: app]) }
        if answer.level == .full { return names.text(.sharedAll, [.app: app]) }
        if answer.isApproval { return names.text(.shared, count: answer.contacts, [.app: app]) }
        // An app that has access keeps it.
        if answer.neverAskAgain == true { return names.text(prompt.hasGrant ? .asksNoMore : .neverAgain, [.app: app]) }
        return names.text(answer.level == .denied ? .notAllowed : .nothingSharedWith, [.app: app])
    }

    /// The outcome of a save that needed the person's answer; `nil` if the app may never ask again.
    private func words(forChange answer: Answer, _ prompt: Prompt, _ app: String) -> String? {
        switch answer.allow {
        case .once: return names.text(.saveAllowed, [.app: app])
        case .always:
            let right = prompt.wantedChanges ?? .own
            let words = ChangesChoice.words(right, wholeCard: prompt.getsWholeCard, names)
            return names.text(.changesChanged, [.app: app, .changes: words])
        case nil: return answer.neverAskAgain == true ? nil : names.text(.saveRefused, [.app: app])
        }
    }

    /// - Parameter terminal: the terminal of the agent that joined; `nil` if the others were there before
    ///   this one.
    func words(forOthers others: Int, joined terminal: String?) -> String {
        guard let terminal else { return names.text(.othersHere, count: others) }
        return names.text(
            .otherJoined, count: others, [.terminal: Columns.clip(ShownText.line(terminal), to: 24)])
    }

    /// A prompt waits, but the terminal is too small to read it.
    func tooSmall(_ size: ScreenSize) -> [StyledLine] {
        let least = ScreenSize.minimum
        let now = "\(size.columns)×\(size.rows)"
        return [
            .warning(names.text(.tooSmall, [.size: now])),
            StyledLine(names.text(.makeLarger, [.size: "\(least.columns)×\(least.rows)"])),
        ].flatMap { $0.wrapped(columns: size.columns) }
    }

    /// One line for quiet prompts: their app was refused before, or many other apps have asked.
    func lines(forQuiet prompt: Prompt?) -> [StyledLine] {
        guard let prompt else { return [] }
        let name = ShownText.app(prompt.caller.displayName, columns: 28, names)
        let wasRefused = prompt.status == "denied"
        return [StyledLine(names.text(wasRefused ? .refusedAsksAgain : .crowdAsks, [.app: name, .key: "o"]))]
    }
}
