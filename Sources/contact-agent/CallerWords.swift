/// Who asks and how sure we are, in plain words.
struct CallerWords {
    let prompt: Prompt
    let columns: Int

    private var caller: Caller { prompt.caller }

    /// In quotation marks: it is the app's own word.
    var name: String { ShownText.quoted(caller.displayName, columns: min(32, columns / 2)) }

    /// How sure we are, and what that is worth; each line fits.
    var sureness: [StyledLine] {
        let path = caller.executable.map(ShownText.line) ?? "a program that cannot be named"
        func line(_ words: String, _ rest: String) -> StyledLine {
            StyledLine("  \(words)" + Columns.clipMiddle(rest, to: max(8, columns - 3 - Columns.width(words))))
        }
        let identifier = ShownText.line(caller.identifier)
        // The second line says what the first is worth, and fits the narrowest terminal.
        switch caller.strength {
        case .labelled:
            return [
                line("confined by the system as ", identifier), .dim("  (no other program can take that name)"),
            ]
        case .sandboxed:
            return [
                line("a sandboxed app: ", identifier),
                .dim("  (no other sandboxed app can take that name; a program"),
                .dim("  of yours outside of any sandbox could)"),
            ]
        case .service:
            return [
                line("a system service: ", identifier),
                .dim("  (your administrator runs it; no program can take its name)"),
            ]
        case .installed:
            return [
                line("an installed program: ", path),
                .dim("  (what is shared with it, programs that run it can get at)"),
            ]
        case .claimed:
            return [
                line("calls itself ", identifier), .warning("  (not checked: any program can take this name)"),
            ]
        case .unverified where prompt.isInterpreter:
            return [
                line("an unverified interpreter: ", path),
                .warning("  (this \(program) process only: it runs any program)"),
            ]
        case .unverified:
            return [
                line("an unverified program: ", path),
                .warning("  (not checked: any program can take its place)"),
            ]
        }
    }

    /// Which process it is and where it runs.
    var process: StyledLine {
        let place = caller.terminal.map { " on \(Columns.clip(ShownText.line($0), to: 24))" } ?? ", on no terminal"
        return .dim("  process \(caller.pid)\(place)")
    }

    /// Its reason, in its own words.
    var purpose: StyledLine {
        guard let purpose = prompt.purpose, !ShownText.line(purpose).isEmpty else {
            return .dim("It does not say why.")
        }
        return StyledLine("It says: " + ShownText.quoted(purpose, columns: columns - 10))
    }

    /// What it would read at most, where the administrator says so.
    var readAtMost: StyledLine? {
        guard let keys = prompt.maximumKeys else { return nil }
        let words = GrantedKeys.words(for: keys) ?? "nothing"
        return .dim(Columns.clip("It reads at most, by your administrator's word: \(words)", to: columns - 1))
    }

    /// How long a grant would last.
    func lifetime(_ lifetime: Lifetime) -> String {
        let words = ownWords(for: lifetime)
        guard let end = prompt.endsAt else { return words }
        // As `2026-01-31 12:00`, whatever came.
        let text = ShownText.line(String(end.prefix(16))).replacing("T", with: " ")
        return words + ", at the latest until \(text) UTC"
    }

    private func ownWords(for lifetime: Lifetime) -> String {
        switch lifetime {
        case .untilRevoked: "until you take it back"
        case .session where prompt.isInterpreter: "all \(program) programs in this terminal session"
        case .session: "for this terminal session"
        case .process where prompt.isInterpreter: "this \(program) process only"
        case .process: "this process only"
        }
    }

    /// The executable's own name, short.
    private var program: String {
        let path = ShownText.line(caller.executable ?? caller.displayName)
        return Columns.clip(String(path.split(separator: "/").last ?? "program"), to: 16)
    }
}
