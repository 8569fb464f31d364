import ArgumentParser
import BrokerCommandOutput

/// The arguments that name an app.
struct AppOptions: ParsableArguments {
    @Argument(
        help: "The app: its name, path or identifier, or a part that matches no other app.",
        completion: .words(Completions.apps), transform: ShellWord.read)
    var app: String
    @Option(
        help: "Only at this identity strength.",
        completion: .list([
            "labelled", "sandboxed", "service", "installed", "password", "claimed", "unverified", "declared",
        ]))
    var strength: String?

    /// The app as the person named it, quoted for a shell if necessary.
    var shellWord: String { ShellWord.quoted(Speech.clean(app)) }
}
