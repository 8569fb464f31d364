import BrokerFormatting
import BrokerModel

/// Describes the app that asks, and how reliably it was identified.
struct CallerWords {
    let prompt: Prompt
    let columns: Int
    /// The most lines for the app's purpose.
    let purposeLines: Int
    let names: LocalizedNames

    private var caller: Caller { prompt.caller }

    /// The app's name, in quotation marks because the app chose it.
    var name: String { ShownText.app(caller.displayName, columns: min(32, columns / 2), names) }

    /// A text about the app. If the line does not fit, the app's name is cut, so the end of the line stays
    /// visible.
    ///
    /// - Parameter reserving: columns of the line that are already used.
    func text(
        _ phrase: Phrase, count: Int? = nil, _ values: [Placeholder: String] = [:], reserving: Int = 0
    ) -> String {
        var values = values
        func filled(_ name: String) -> String {
            values[.app] = name
            return count.map { names.text(phrase, count: $0, values) } ?? names.text(phrase, values)
        }
        let text = filled(name)
        let excess = Columns.width(text) + reserving - columns
        guard excess > 0 else { return text }
        return filled(ShownText.app(caller.displayName, columns: max(8, Columns.width(name) - excess), names))
    }

    /// The question whether the app may see all contacts.
    var all: String {
        prompt.totalContacts == 0 ? text(.shareAllWithNone) : text(.shareAllWith, count: prompt.totalContacts)
    }

    /// A warning about the app's name if it is a look-alike, the identity strength, and an explanation of how reliable it
    /// is. Each line fits the screen.
    var strengthLines: [StyledLine] {
        let warning = Lookalike.warning(ShownText.line(caller.displayName)).map { names.text($0) }
        let path = caller.executable.map(ShownText.unmistakable) ?? names.text(.unnamedProgram)
        func lines(_ phrase: Phrase, _ name: String, _ worth: Phrase) -> [StyledLine] {
            let room = columns - 3 - Columns.width(names.text(phrase, [.name: ""]))
            let sure = names.text(phrase, [.name: Columns.clipMiddle(name, to: max(8, room))])
            let style: StyledLine.Style =
                switch caller.strength {
                case .labelled, .sandboxed, .service: .dim
                // Other programs of the user can pretend to be these apps.
                case .installed, .password, .claimed, .unverified, .declared: .warning
                }
            return (warning.map { [.warning("  " + $0)] } ?? []) + [StyledLine("  " + sure)]
                + StyledLine(names.text(worth, [.program: program, .time: folderEnd]), style).wrapped(
                    columns: columns - 2
                ).map {
                    StyledLine("  ") + $0
                }
        }
        let identifier = ShownText.unmistakable(caller.identifier)
        return switch caller.strength {
        case .labelled: lines(.sureLabelled, identifier, .worthLabelled)
        case .sandboxed: lines(.sureSandboxed, identifier, .worthSandboxed)
        case .service: lines(.sureService, identifier, .worthService)
        case .installed: lines(.sureInstalled, path, .worthInstalled)
        case .password: lines(.surePassword, identifier, .worthPassword)
        case .claimed: lines(.sureClaimed, identifier, .worthClaimed)
        case .unverified where prompt.isInterpreter: lines(.sureInterpreter, path, .worthInterpreter)
        case .unverified: lines(.sureUnverified, path, .worthUnverified)
        case .declared: lines(.sureDeclared, caller.folder.map(ShownText.unmistakable) ?? identifier, .worthDeclared)
        }
    }

    /// When the declaration of the app's folder ends.
    private var folderEnd: String {
        caller.folderUntil.map { names.day($0) } ?? "…"
    }

    /// Why the app can have single contacts only.
    var singleOnly: StyledLine {
        .dim("  " + names.text(caller.strength == .declared ? .declaredSingleOnly : .singleOnly))
    }

    /// The app's process and its terminal.
    var process: StyledLine {
        let pid = String(caller.pid)
        guard let terminal = caller.terminal else { return .dim("  " + names.text(.processNowhere, [.pid: pid])) }
        return .dim(
            "  " + names.text(.processOn, [.pid: pid, .terminal: Columns.clip(ShownText.line(terminal), to: 24)]))
    }

    /// The purpose, in the app's own words, and whether the app gave another one earlier.
    var purpose: [StyledLine] {
        guard let purpose = prompt.purpose, !ShownText.line(purpose).isEmpty else {
            return [.dim(names.text(.saysNotWhy))]
        }
        let indent = Columns.width(names.text(.says, [.purpose: ""]))
        let room = columns - indent - 1
        let parts = StyledLine(ShownText.line(purpose)).wrapped(columns: room - names.quotationColumns).map(\.text)
        // Each line is quoted, so that none looks like one of this program's.
        let last = parts.dropFirst(purposeLines - 1).joined(separator: " ")
        let quoted = (parts.prefix(purposeLines - 1) + (last.isEmpty ? [] : [last])).map {
            ShownText.quoted($0, columns: room, names)
        }
        return [StyledLine(names.text(.says, [.purpose: quoted[0]]))]
            + quoted.dropFirst().map { StyledLine(String(repeating: " ", count: indent) + $0) }
            + (prompt.hasOtherPurpose ? [.warning(earlierPurpose)] : [])
    }

    /// The purpose that the app gave when the person last decided, if the broker still knows it.
    private var earlierPurpose: String {
        guard let former = prompt.formerPurpose else { return names.text(.saidAnother) }
        let room = columns - Columns.width(names.text(.saidEarlier, [.purpose: ""])) - 1
        return names.text(.saidEarlier, [.purpose: ShownText.quoted(former, columns: room, names)])
    }

    /// The keys that the app asks for.
    var wants: StyledLine {
        let keys = GrantedKeys.words(for: prompt.keys, names) ?? names.text(.allButNotes)
        return StyledLine(Columns.clip(names.text(.wants, [.keys: keys]), to: columns - 1))
    }

    /// What the app asks to change, if it asks for more than an app usually gets.
    var wantsChanges: [StyledLine] {
        switch prompt.wantedChanges {
        case .edit: [StyledLine(Columns.clip(names.text(.wantsToChange), to: columns - 1))]
        case .all: [StyledLine(Columns.clip(names.text(.wantsToDelete), to: columns - 1))]
        case .none?, .own, nil: []
        }
    }

    /// What an app with a grant may do with these contacts beyond reading them; nothing if it may change only its own.
    ///
    /// - Parameter wholeCard: whether it gets all keys that need no naming. Only then may it delete what others added.
    func rights(wholeCard: Bool, count: Int) -> [StyledLine] {
        let text: String
        switch prompt.grantedChanges {
        case .all where wholeCard: text = names.text(.alsoDeletes, count: count)
        case .edit, .all: text = names.text(.alsoChanges)
        case .none?, .own, nil: return []
        }
        return [StyledLine(Columns.clip("   " + text, to: columns - 1))]
    }

    /// Says that there is no contact to choose.
    var emptyBook: [StyledLine] { prompt.isEmptyBook ? [StyledLine("  " + names.text(.bookIsEmpty))] : [] }

    /// How many contacts the app got, and when it last did.
    var use: [StyledLine] {
        guard let last = prompt.lastUsedAt, prompt.contactsRead != 0 else {
            return [.dim("  " + names.text(.neverUsed))]
        }
        guard let count = prompt.contactsRead else { return [] }
        let time = names.text(names.isToday(last) ? .atTime : .onDay, [.time: names.moment(last)])
        return [StyledLine("  " + names.text(.lastUsed, count: count, [.time: time]))]
    }

    /// The keys that policy limits the app to; `nil` if there is no such limit.
    var readAtMost: StyledLine? {
        guard let keys = prompt.maximumKeys else { return nil }
        let words = GrantedKeys.words(for: keys, names) ?? names.text(.nothing)
        return .dim(Columns.clip(names.text(.readsAtMost, [.keys: words]), to: columns - 1))
    }

    /// Describes how long a grant would last.
    func lifetime(_ lifetime: Lifetime) -> String {
        let words = ownWords(for: lifetime)
        if case .days = lifetime { return words }
        guard let end = prompt.endsAt else { return words }
        return names.text(.untilLatest, [.lifetime: words, .time: names.day(end, withTime: true)])
    }

    private func ownWords(for lifetime: Lifetime) -> String {
        switch lifetime {
        case .untilRevoked: names.text(.untilRevoked)
        case .untilTime:
            names.text(.untilDate, [.time: prompt.grantedUntil.map { names.day($0) } ?? "…"])
        case .days(let days): names.text(.forDays, count: days)
        case .session where prompt.isInterpreter: names.text(.sessionPrograms, [.program: program])
        case .session: names.text(.thisSession)
        case .process where prompt.isInterpreter: names.text(.programProcess, [.program: program])
        case .process: names.text(.thisProcess)
        }
    }

    /// The executable's file name, at most 16 columns.
    private var program: String {
        let path = ShownText.unmistakable(caller.executable ?? caller.displayName)
        return Columns.clip(String(path.split(separator: "/").last ?? "program"), to: 16)
    }
}
