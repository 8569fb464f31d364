import BrokerAccessControl

/// What counts as one app where prompts are limited: it has one back-off, and one open prompt.
///
/// It is coarser than a principal where any program can take another name, and it never lets a program count as
/// another one that it cannot run.
enum AppKey: Hashable {
    /// An app whose name other programs cannot take.
    case named(IdentityStrength, String)
    /// All weakly identified callers in one sandbox. A file in a sandbox can have the path of a program outside, and
    /// must not use up that program's prompts.
    case sandbox(String)
    /// All scripts in one terminal session: an interpreter is not an app.
    case terminal(SessionIdentity)
    /// A program, also after it was built again, when its hash is another one. `claimed` is the name that its unit
    /// carries: one program may run several apps.
    case program(path: String, claimed: String?)

    init(_ caller: Caller) {
        if !caller.strength.namesNobody {
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

extension IdentityStrength {
    /// Whether any program of the user can take such a name.
    var namesNobody: Bool {
        switch self {
        case .claimed, .unverified: true
        case .labelled, .sandboxed, .service, .installed: false
        }
    }
}
