import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel

extension Editor {
    /// The beginning of the lines that this program inserts into the person's text.
    static let mark = "#! "

    /// Opens a contact's form in the editor, and reopens it until the text can be parsed.
    ///
    /// - Returns: `nil` if the person emptied the text.
    func form(_ text: String, _ keys: ContactKeySet) throws -> (form: ContactForm, text: String)? {
        var text = try edit(text)
        while true {
            if ContactForm.isEmpty(text) { return nil }
            do throws(ContactForm.Problem) {
                return (try ContactForm(reading: text, keys: keys), text)
            } catch {
                let problem = "line \(error.line): \(Speech.clean(error.reason))"
                func failure(keeping what: String) -> CommandFailure {
                    CommandFailure("could not \(task): \(problem)", try: "\(what) is kept in \(keep())", .notTried)
                }
                // Without a terminal, the editor can be a script that would be called forever.
                guard Speech.canAsk else { throw failure(keeping: "what was typed") }
                Speech.say(problem)
                let marked = Self.marked(text, error)
                text = try edit(marked)
                guard text != marked else { throw failure(keeping: "what you typed") }
            }
        }
    }

    /// Inserts the problem above its line and removes earlier problem lines.
    private static func marked(_ text: String, _ problem: ContactForm.Problem) -> String {
        var lines: [Substring] = []
        for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if place + 1 == problem.line { lines.append(Substring(mark + problem.reason)) }
            if !line.hasPrefix(mark) { lines.append(line) }
        }
        return lines.joined(separator: "\n")
    }
}
