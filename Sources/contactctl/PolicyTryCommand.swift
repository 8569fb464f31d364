import ArgumentParser
import BrokerAccessControl
import BrokerCommandOutput
import BrokerJSON

struct PolicyTryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Show what would change if the files were the whole policy.",
        discussion: """
            Compares each app of each user under the policy in force and under these files. Nothing changes. To try one \
            more file, name the folder in force too. Needs an administrator's password, or root.
            """)

    @OptionGroup var policy: PolicyFiles
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let texts = try policy.read(to: "try the policy").texts
        let reply = try AdminClient(to: "try the policy").call("TryPolicy") {
            $0.name("files")
            $0.array(texts) { writer, text in
                writer.object {
                    $0.member("name", text.file)
                    $0.member("text", text.text)
                }
            }
        }
        let changes = reply["changes"]?.elements.map(Array.init) ?? []
        let (apps, rules) = (reply["apps"]?.integer ?? 0, reply["rules"]?.integer ?? 0)
        guard !json else {
            return CommandJSON.print {
                $0.member("rules", rules)
                $0.member("apps", apps)
                CommandJSON.array("changes", changes, without: ["session"], &$0)
            }
        }
        if !changes.isEmpty { Screen.show(changes.flatMap { PolicyChange($0).lines }) }
        Speech.say(
            "with \(Count.words(rules, "rule")), \(changes.count) of \(Count.words(apps, "app")) would have other access; "
                + "nothing has changed")
    }
}
