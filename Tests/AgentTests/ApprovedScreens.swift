@testable import contact_agent

/// What sessions show, in the form of the files in `Tests/Approved/agent`, which Documentation/Building.md describes.
struct ApprovedScreens {
    /// Where a person uses the agent: at full screen in a terminal of this size, or in line mode.
    enum View: Hashable, Sendable, CustomStringConvertible {
        case fullScreen(ScreenSize)
        case lineMode

        static let all = AgentScreens.sizes.map(View.fullScreen) + [.lineMode]

        var description: String {
            switch self {
            case .fullScreen(let size): "\(size.columns)x\(size.rows)"
            case .lineMode: "line mode"
            }
        }
    }

    /// The screen on which the person takes a step. Steps count from 1. Number 0 is the agent's screen before the app
    /// asks, and the number after the last step is what line mode prints at the end.
    struct Place: Hashable, CustomStringConvertible {
        var session: String
        var step: Int
        var view: View
        var description: String { "\(session) \(step): \(view)" }
    }

    struct Malformed: Error {
        let heading: String
    }

    /// A heading, and the lines below it.
    private struct Part: Hashable {
        var heading: String
        /// What the lines are, if not the whole screen.
        var form = ""
        var lines: [String] = []
    }

    private struct Screen: Hashable {
        var view: View
        var lines: [String]
    }

    /// The lines of each screen; at full screen, as many as the terminal has rows.
    var screens: [Place: [String]] = [:]

    private static let mark = "── "
    /// Stands for as many empty lines as fill the screen.
    private static let filler = "⋮"
    private static let changes = "changed lines"
    private static let reference = "as "

    init() {}

    // MARK: - Writing

    /// The files by their names. Each screen is in the first session that shows it.
    func files(_ sessions: [AgentScreens.Session]) -> [String: String] {
        var files: [String: String] = [:]
        var first: [Screen: String] = [:]
        for session in sessions {
            var shown: [View: [String]] = [:]
            for step in 0...session.steps.count + 1 {
                var parts: [(part: Part, views: [View])] = []
                for view in View.all {
                    guard let lines = screens[Place(session: session.name, step: step, view: view)] else { continue }
                    let name = "\(session.name) \(step)"
                    var part = Part(heading: name, lines: lines)
                    if let action = session.action(before: step, in: view) { part.heading += ", after \(action)" }
                    if view != .lineMode { (part.form, part.lines) = Self.shortened(lines, after: shown[view]) }
                    shown[view] = lines
                    let screen = Screen(view: view, lines: lines)
                    let earlier = first[screen]
                    first[screen] = earlier ?? name
                    // A single line is easier to read than a reference.
                    if let earlier, part.lines.count != 1 {
                        (part.form, part.lines) = (", " + Self.reference + earlier, [])
                    }
                    if let last = parts.last, last.part == part {
                        parts[parts.count - 1].views.append(view)
                    } else {
                        parts.append((part, [view]))
                    }
                }
                for (part, views) in parts {
                    let views = views.map(\.description).joined(separator: ", ")
                    let heading = "\(Self.mark)\(part.heading): \(views)\(part.form)"
                    files[session.file, default: ""] += ([heading] + part.lines).map { $0 + "\n" }.joined()
                }
            }
        }
        return files
    }

    /// The lines that changed, with their numbers, if they are at most half of the screen. Otherwise the screen, whose
    /// longest empty part is left out.
    private static func shortened(_ lines: [String], after former: [String]?) -> (form: String, lines: [String]) {
        let screen = withoutFilling(lines)
        guard let former else { return ("", screen) }
        let changed = zip(lines, former).enumerated().filter { $1.0 != $1.1 }.map { number, line in
            (number < 9 ? " " : "") + "\(number + 1):" + (line.0.isEmpty ? "" : " " + line.0)
        }
        return changed.count * 2 <= screen.count ? (", " + changes, changed) : ("", screen)
    }

    private static func withoutFilling(_ lines: [String]) -> [String] {
        var longest = 0..<0
        var start = 0
        for (number, line) in lines.enumerated() {
            if !line.isEmpty { start = number + 1 }
            if number + 1 - start > longest.count { longest = start..<number + 1 }
        }
        guard longest.count > 1 else { return lines }
        let end = lines[longest.upperBound...]
        return Array(lines[..<longest.lowerBound]) + (end.isEmpty ? [] : [filler]) + end
    }

    // MARK: - Reading

    /// Reads the files in the order of their sessions.
    init(reading files: [String]) throws {
        var shown: [Place: [String]] = [:]
        for file in files {
            let lines = file.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
            let starts = lines.indices.filter { lines[$0].hasPrefix(Self.mark) }
            for (start, end) in zip(starts, starts.dropFirst() + [lines.endIndex]) {
                try read(lines[start], Array(lines[(start + 1)..<end]), after: &shown)
            }
        }
    }

    /// Reads a part whose heading is, for example, `── access 3, after ⏎: 60x12, 80x24, as access 1`.
    ///
    /// - Parameter shown: the last screen of each session and view, at step 0.
    private mutating func read(_ heading: String, _ lines: [String], after shown: inout [Place: [String]]) throws {
        let malformed = Malformed(heading: heading)
        guard let name = Self.place(heading.dropFirst(Self.mark.count)),
            let fields = heading.split(separator: ": ").last
        else { throw malformed }
        var views = fields.split(separator: ", ").map(String.init)[...]
        let isForm = views.last.map { $0 == Self.changes || $0.hasPrefix(Self.reference) } ?? false
        let form = isForm ? views.removeLast() : ""
        for text in views {
            guard let view = View.all.first(where: { $0.description == text }) else { throw malformed }
            let session = Place(session: name.session, step: 0, view: view)
            var screen = shown[session] ?? []
            if form.hasPrefix(Self.reference) {
                guard let earlier = Self.place(form.dropFirst(Self.reference.count)),
                    let lines = screens[Place(session: earlier.session, step: earlier.step, view: view)]
                else { throw malformed }
                screen = lines
            } else if form == Self.changes {
                for line in lines {
                    let number = line.prefix { $0 != ":" }
                    guard let row = Int(number.drop { $0 == " " }), screen.indices.contains(row - 1) else {
                        throw malformed
                    }
                    screen[row - 1] = String(line.dropFirst(number.count + 2))
                }
            } else {
                screen = Self.filled(lines, view)
            }
            screens[Place(session: name.session, step: name.step, view: view)] = screen
            shown[session] = screen
        }
    }

    /// The session and the step at the beginning of a text.
    private static func place(_ text: Substring) -> (session: String, step: Int)? {
        let words = text.prefix { $0 != "," && $0 != ":" }.split(separator: " ")
        guard words.count == 2, let step = Int(words[1]) else { return nil }
        return (String(words[0]), step)
    }

    private static func filled(_ lines: [String], _ view: View) -> [String] {
        guard case .fullScreen(let size) = view, lines.count < size.rows else { return lines }
        let place = lines.firstIndex(of: filler) ?? lines.endIndex
        let end = lines[place...].dropFirst()
        return Array(lines[..<place]) + Array(repeating: "", count: size.rows - place - end.count) + end
    }
}
