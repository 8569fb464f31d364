import BrokerAccessControl
import BrokerBounds

/// Identifies an app for the limits on prompts. Each key has one back-off, and at most one open prompt.
///
/// For weakly identified apps, a key covers several principals, because any program can change its
/// principal. A program can get another program's key only if it can run that program.
enum AppKey: Hashable {
    /// An app at an identity strength above `claimed`, or in a declared folder, by its identifier.
    case named(IdentityStrength, String)
    /// All weakly identified callers in one sandbox. They have a separate key, because a file in the sandbox
    /// can have the same path as a program outside.
    case sandbox(String)
    /// All scripts in one terminal session, because an interpreter does not identify an app.
    case terminal(SessionIdentity)
    /// A program by its path, so a new build with a different hash keeps the key. `claimed` is the app name
    /// in its unit's name, because one program may run several apps.
    case program(path: String, claimed: String?)

    init(_ caller: Caller) {
        if !caller.strength.namesNobody || caller.strength == .declared {
            self = .named(caller.strength, caller.app)
        } else if let sandbox = caller.sandbox {
            self = .sandbox(sandbox)
        } else if caller.isInterpreter, let session = caller.session {
            self = .terminal(session)
        } else {
            self = .program(
                path: caller.executable ?? caller.app, claimed: caller.strength == .claimed ? caller.app : nil)
        }
    }
}
