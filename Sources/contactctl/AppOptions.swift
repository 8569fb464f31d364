import ArgumentParser
import BrokerCommandOutput

/// The arguments that name an app.
struct AppOptions: ParsableArguments {
    @Argument(
        help: "The app: its name, path or identifier, or a part that matches no other app.",
        completion: .custom { (_, _, _) in Completions.apps() })
    var app: String
    @Option(
        help: "Only at this identity strength.",
        completion: .list(["labelled", "sandboxed", "service", "installed", "claimed", "unverified", "declared"]))
    var strength: String?

    /// The app as the person named it, quoted for a shell if necessary.
    var shellWord: String {
        let word = Speech.clean(app)
        let isPlain = word.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || "/._-".utf8.contains($0)
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
