import Glibc
import Testing

@Suite("README and tutorial")
struct TutorialTests {
    private typealias Step = TutorialSession.Step
    private typealias Run = TutorialSession.Run

    /// Sections about the installed service. Tests/System/first-session runs their commands.
    private static let installed = [
        "README.md": "Install", "Documentation/Tutorial.md": "The system service",
    ]

    /// Commands that cannot run here, and what runs them instead.
    private static let elsewhere = [
        "make demo": "`make test` runs Examples/demo.sh, as this target does",
        "make test": "runs this test",
        "make python": "`make test` runs it before the tests",
    ]

    /// The built programs may be in another folder, for example those with the thread sanitizer.
    private static let instead = [
        #"export PATH="$PWD/.build/debug:$PATH""#: #"export PATH='\#(DaemonFixture.programs)':"$PATH""#
    ]

    private static let shareAll = [
        Step.press("a", at: "[a] "), .press("y", at: "[y] Share all"),
    ]
    private static let shareOne = [Step.press("s", at: "[s] Share"), .press("y", at: "[y] Share this contact")]

    private static func pick(_ name: String) -> [Step] {
        [
            .press("c", at: "[c] Pick"), .press(name.prefix(4).lowercased(), at: "› [ ]"),
            .press("\r", at: "› [ ] " + name), .press("\r", at: "› [ ] home"), .press("y", at: "[y] Give it"),
        ]
    }

    /// The runs of each command that needs a person or another terminal, or that does not succeed, in the order of the
    /// document. Every other command runs in the app's terminal and must succeed.
    private static let runs: [String: [Run]] = [
        #"contactbrokerd --session --runtime-dir "$CONTACTBROKER_RUNTIME_DIR""#: [
            Run(place: .broker, steps: [.see("serving", in: .broker)], status: nil)
        ],
        "contact-agent": [Run(place: .agent, steps: [.see("Waiting for apps", in: .agent)], status: nil)],
        "contactbook import Examples/sample.vcf": [Run(steps: shareAll)],
        "AskForContact saga": [Run(steps: shareOne)],
        "AskForContact ngozi": [Run(steps: shareOne)],
        "contactctl audit --follow": [
            Run(steps: [.press("\u{3}", at: "disclosure", in: .app)], status: 128 + Int(SIGINT))
        ],
        "sh Examples/pick.sh": [Run(steps: pick("Saga Lindqvist"))],
        ".build/python/bin/python Examples/pick.py": [Run(steps: pick("Omar Haddad"))],
        ".build/python/bin/python Examples/watch.py": [
            Run(
                place: .watcher,
                steps: [
                    .press("c", at: "[c] Choose"), .press("omar", at: "› [ ]"), .press("\t", at: "› [ ] Omar Haddad"),
                    .press("saga", at: "1 marked"), .press("\t", at: "› [ ] Saga Lindqvist"),
                    .press("\r", at: "2 marked"), .press("y", at: "[y] Share"),
                    .see("watching", in: .watcher),
                ], status: nil)
        ],
        "contactbook remove omar": [Run(steps: [.press("y\r", at: "[y/N]", in: .app)])],
        #"contactbook add --given Nils --phone "+46 70 555 01 10""#: [
            Run(steps: [
                .see("deleteContact", in: .watcher), .select("“python3", at: "“python3"),
                .press("\r", at: "› “python3"), .press("c", at: "[c] Change contacts"),
                .press("luc", at: "Contacts that it sees"), .press("\t", at: "› [ ] Lucía"),
                .press("\r", at: "1 marked"), .press("y", at: "[y] Change"),
                .press("\u{3}", at: "granted Lucía", in: .watcher),
            ])
        ],
        "contactctl reload": [Run(), Run(status: 1), Run()],
        "contactbook import ~/contacts.csv": [Run(steps: [.press("m", at: "all that follow:", in: .app)])],
        ".build/python/bin/python Examples/ask.py ngozi": [Run(steps: shareOne)],
        #"CallerID "+44 20 7946 0112""#: [Run(steps: shareAll)],
        "SyncClient ~/token": [Run(steps: shareAll), Run()],
        "rm -rf ~/.local/state/contactbroker ~/.local/state/contactbook": [
            Run(before: [
                .press("q", at: "Waiting for apps"), .press("\u{3}", at: "serving", in: .broker),
                .see("tutorial:", in: .broker),
            ])
        ],
    ]

    @Test(
        "Every command of README and tutorial works as written in session mode, and prints what they show",
        .enabled(
            if: access(Document.top + "/.build/python/bin/python", X_OK) == 0, "`make python` makes .build/python"))
    func commands() throws {
        let session = try TutorialSession()
        defer { session.end() }
        var counts: [String: Int] = [:]
        for name in ["README.md", "Documentation/Tutorial.md"] {
            let document = try Document(name)
            let installed = try #require(Self.installed[name])
            #expect(document.blocks.contains { $0.section == installed }, "\(name) has no section \(installed)")
            var section: String?
            for block in document.blocks where block.section != installed {
                if block.section != section { session.beginSection() }
                section = block.section
                if block.language == "sh" {
                    for command in block.commands { try run(command, in: session, &counts) }
                } else if block.language == "text" {
                    let missing = session.missing(from: block)
                    #expect(missing.isEmpty, "\(name):\(block.number) shows what no program printed: \(missing)")
                }
            }
        }
        // The tables above may name only commands that the documents contain.
        for (command, runs) in Self.runs { #expect(counts[command] == runs.count, "\(command)") }
        for command in Self.elsewhere.keys { #expect(counts[command] != nil, "\(command)") }
        for command in Self.instead.keys { #expect(counts[command] != nil, "\(command)") }
    }

    private func run(_ command: String, in session: TutorialSession, _ counts: inout [String: Int]) throws {
        let count = counts[command, default: 0]
        counts[command] = count + 1
        if Self.elsewhere[command] != nil { return }
        // Each terminal needs these, as README says.
        if command.hasPrefix("export ") {
            session.open(with: Self.instead[command] ?? command)
            return
        }
        let runs = Self.runs[command] ?? []
        try session.run(command, count < runs.count ? runs[count] : Run())
    }

    @Test("README has at most 150 lines")
    func length() throws {
        // The file's last line ends with a line feed.
        #expect(try Document("README.md").lines.count <= 151)
    }

    @Test("The tutorial shows Examples/ask.py as it is")
    func python() throws {
        let document = try Document("Documentation/Tutorial.md")
        let block = try #require(document.blocks.first { $0.language == "python" })
        #expect(DaemonFixture.text(of: Document.top + "/Examples/ask.py") == block.lines.map { $0 + "\n" }.joined())
    }
}
