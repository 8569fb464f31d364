import ArgumentParser
import Glibc

extension ParsableCommand {
    /// Runs the program and exits with a status: 0 for success, 1 if the broker refused or nothing was found,
    /// 2 if the command could not be carried out, and any other that the command throws as an `ExitCode`.
    public static func runAsProgram() -> Never {
        do {
            var command = try parseAsRoot()
            try command.run()
            Glibc.exit(0)
        } catch let failure as CommandFailure {
            Speech.say("\(_commandName): \(failure.message)")
            if let advice = failure.advice { Speech.say(advice) }
            Glibc.exit(failure.code.rawValue)
        } catch let code as ExitCode {
            Glibc.exit(code.rawValue)
        } catch {
            // ArgumentParser throws for help and version, too; they exit with 0.
            if exitCode(for: error).isSuccess {
                let text = fullMessage(for: error)
                guard text.hasPrefix("#!/bin/bash") else { exit(withError: error) }
                guard let script = BashCompletion.withoutExpansion(text) else {
                    Speech.say("\(_commandName): this version of the argument parser writes another script for bash")
                    Glibc.exit(2)
                }
                print(script)
                Glibc.exit(0)
            }
            if let word = CommandLine.arguments.dropFirst().first, let unknown = unknownCommand(word) {
                Speech.say("\(_commandName): \(unknown)")
                Glibc.exit(2)
            }
            let message = message(for: error)
            Speech.say("\(_commandName): \(message.prefix(1).lowercased())\(message.dropFirst())")
            Speech.say("try: \(helpCommand(for: error))")
            Glibc.exit(2)
        }
    }

    /// The command that shows the help of the command in which the error occurred. The parser knows which one that is, and
    /// its message ends with `See 'contactbook add --help' for more information.`
    private static func helpCommand(for error: any Error) -> String {
        let seen = fullMessage(for: error).matches(of: #/See '([^']+)' for more information/#).last
        return seen.map { String($0.1) } ?? "\(_commandName) --help"
    }

    /// What to say if the word is no command of this program; `nil` if it is one, or an option.
    private static func unknownCommand(_ word: String) -> String? {
        let commands = configuration.subcommands.map { $0._commandName }
        guard !commands.isEmpty, !word.hasPrefix("-"), !commands.contains(word), word != "help" else { return nil }
        let near = Suggestion.closest(to: word, among: commands)
        let advice = near.map { "did you mean \($0)?" } ?? "for all commands: \(_commandName) --help"
        return "there is no command \(Speech.clean(word)); \(advice)"
    }
}
