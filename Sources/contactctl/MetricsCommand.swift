import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Print numbers about the contact broker in Prometheus' text format.",
        discussion: """
            Needs an administrator's password, or root. The numbers never name a user, an app or a contact. A timer can write \
            them into the folder of a collector, with --file.
            """)

    @Option(
        help: "Write this file instead, for the owner and the group of its folder. It is replaced at once.",
        completion: .file())
    var file: String?

    func run() throws {
        let task = "read the metrics"
        let text = try AdminClient(to: task).call("GetMetrics")["text"]?.string ?? ""
        guard let file else { return print(text, terminator: "") }
        let output = try OutputFile(at: file, to: task, followsLink: false, forGroupOfFolder: true)
        try output.write(Array(text.utf8))
        try output.finish()
    }
}
