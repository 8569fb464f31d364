import BrokerAccessControl

/// Says who a caller is, from evidence alone. Pure.
///
/// The kinds are tried in order, the surest first. Only a definite "not this kind" leads on to the next; what
/// cannot be told refuses.
public func judge(_ evidence: Evidence, manifests: AppManifests = AppManifests()) -> Judgement {
    // Who is in a sandbox may be none of the host's programs: it matters to every kind.
    let sandbox = Sandbox(evidence)
    if case .cannotTell(let refusal) = sandbox { return .refused(refusal) }
    let examination = Examination(evidence: evidence, sandbox: sandbox, manifests: manifests)
    for strength in IdentityStrength.allCases {
        switch examination.finding(strength) {
        case .isNot: continue
        case .isCaller(let caller): return .caller(caller)
        case .cannotTell(let refusal): return .refused(refusal)
        }
    }
    return .refused(.noExecutable)
}

private enum Finding {
    case isNot
    case isCaller(Caller)
    case cannotTell(Refusal)
}

private struct Examination {
    let evidence: Evidence
    let sandbox: Sandbox
    let manifests: AppManifests

    func finding(_ strength: IdentityStrength) -> Finding {
        // Without the socket's own word on the process, all that is read of it may be of the next holder of its number.
        guard evidence.pidfdSource == .socket || strength == .unverified else { return .isNot }
        switch strength {
        case .labelled: return isOfSystem ? labelled() : .isNot
        case .sandboxed: return isOfSystem ? sandboxed() : .isNot
        case .service: return isOfSystem ? service() : .isNot
        case .installed: return isOfSystem ? installed() : .isNot
        case .claimed: return claimed()
        case .unverified: return unverified()
        }
    }

    /// The four surest need process 1's view of things, which an ordinary program of the user's has not.
    private var isOfSystem: Bool { evidence.vantage == .system }

    private var isApartFromFirst: Bool { Sandbox.isApart(evidence, \.mount) == .found(true) }

    /// A snap whose label the kernel enforces, and with which its control group and its mount namespace agree: a label
    /// alone an unconfined program can take on, aa_change_profile(2).
    private func labelled() -> Finding {
        guard case .found(let text) = evidence.label, let label = SnapLabel(text), label.isEnforced,
            let snap = label.snap, isApartFromFirst, case .found(let path) = evidence.controlGroup,
            ControlGroup.sandboxName(in: path) == snap
        else { return .isNot }
        return named(.labelled, app: snap)
    }

    /// A flatpak: its mark, a mount namespace of its own and flatpak's control group of the caller's own manager agree.
    /// A host program can make all three up, if it wants to be taken for a sandboxed one; a sandboxed one cannot.
    private func sandboxed() -> Finding {
        guard case .found(let info) = evidence.flatpakInfo, let app = info.app, isApartFromFirst,
            case .found(let path) = evidence.controlGroup, let unit = ControlGroup.appUnit(of: path),
            unit.uid == evidence.uid, unit.launcher == "flatpak", unit.isScope, unit.app == app
        else { return .isNot }
        if case .found(let label) = evidence.label, SnapLabel(label) != nil { return .isNot }
        return named(.sandboxed, app: app)
    }

    private func service() -> Finding {
        switch evidence.unit {
        case .absent: return .isNot
        case .unreadable(let errno): return .cannotTell(.unreadable(.unit, errno: errno))
        case .found(let unit):
            guard unit.user == evidence.uid else { return .isNot }
            return named(.service, app: unit.name)
        }
    }

    /// What these are called does not hang on the executable, so that an interpreter is as good as any program.
    private func named(_ strength: IdentityStrength, app: String) -> Finding {
        switch evidence.executable {
        case .found(let executable):
            return .isCaller(caller(strength, app: app, displayName: app, executable, nil, isInterpreter: false))
        case .absent: return .cannotTell(.noExecutable)
        case .unreadable(let errno): return .cannotTell(.unreadable(.executable, errno: errno))
        }
    }

    /// The very file that a manifest of root's names, which nobody but root can have put or changed there, run where
    /// process 1 runs its programs.
    private func installed() -> Finding {
        guard sandbox == .none, case .found(let executable) = evidence.executable, !executable.isDeleted,
            !executable.isInterpreter, let manifest = manifests.manifest(of: executable.path)
        else { return .isNot }
        switch evidence.place {
        case .unreadable(let errno): return .cannotTell(.unreadable(.place, errno: errno))
        case .absent, .found(.other), .found(.same(isOnlyRoots: false)): return .isNot
        case .found(.same(isOnlyRoots: true)): break
        }
        switch session() {
        case .failure(let refusal): return .cannotTell(refusal)
        case .success(let session):
            return .isCaller(
                caller(
                    .installed, app: manifest.app, displayName: manifest.name, executable, session,
                    isInterpreter: false))
        }
    }

    /// A unit of the user's own manager that carries an app's name, and no terminal.
    private func claimed() -> Finding {
        guard evidence.terminal == nil, sandbox == .none else { return .isNot }
        let path: String
        switch evidence.controlGroup {
        case .found(let found): path = found
        case .absent: return .isNot
        case .unreadable(let errno): return .cannotTell(.unreadable(.controlGroup, errno: errno))
        }
        // A process of one user in the unit of another, as after sudo, is not that user's app.
        guard let unit = ControlGroup.appUnit(of: path), unit.uid == evidence.uid else { return .isNot }
        switch evidence.executable {
        case .found(let executable):
            guard !executable.isInterpreter else { return .isNot }
            return .isCaller(
                caller(.claimed, app: unit.app, displayName: unit.app, executable, nil, isInterpreter: false))
        case .absent: return .cannotTell(.noExecutable)
        case .unreadable(let errno): return .cannotTell(.unreadable(.executable, errno: errno))
        }
    }

    /// A path and the hash of the very file that runs.
    private func unverified() -> Finding {
        let executable: Executable
        switch evidence.executable {
        case .found(let found): executable = found
        case .absent: return .cannotTell(.noExecutable)
        case .unreadable(let errno): return .cannotTell(.unreadable(.executable, errno: errno))
        }
        guard case .sha256(let sha256) = executable.digest else { return .cannotTell(.notHashed(executable.digest)) }
        let name = UnverifiedName(path: executable.path, sha256: sha256, sandbox: sandbox)
        switch session() {
        case .failure(let refusal): return .cannotTell(refusal)
        case .success(let session):
            return .isCaller(
                caller(
                    .unverified, app: name.text, displayName: executable.name, executable, session,
                    // What is in a sandbox nobody can name chose its own executable and what it loads into it: one such
                    // program must not come by what was granted to another, so that its grants end with it.
                    isInterpreter: executable.isInterpreter || sandbox == .some(name: nil)))
        }
    }

    /// The terminal session of a caller that has a terminal.
    private func session() -> Result<SessionIdentity?, Refusal> {
        guard evidence.terminal != nil else { return .success(nil) }
        switch (evidence.bootIdentifier, evidence.sessionLeader) {
        case (.found(let boot), .found(let leader)):
            return .success(SessionIdentity(bootIdentifier: boot, leader: leader))
        case (.unreadable(let errno), _), (_, .unreadable(let errno)):
            return .failure(.unreadable(.session, errno: errno))
        case (.absent, _), (_, .absent): return .failure(.noSessionLeader)
        }
    }

    private func caller(
        _ strength: IdentityStrength, app: String, displayName: String, _ executable: Executable,
        _ session: SessionIdentity?, isInterpreter: Bool
    ) -> Caller {
        Caller(
            uid: evidence.uid, strength: strength, app: app, displayName: displayName, executable: executable.path,
            process: evidence.process, session: session, terminal: evidence.terminal?.name,
            isInterpreter: isInterpreter, isSandboxed: sandbox != .none)
    }
}

/// The identifier of an unverified app, in its one form: `PATH sha256:HEX`, and in a sandbox
/// `sandbox:NAME PATH sha256:HEX`, NAME being `unknown` where nothing tells it.
///
/// A path begins with a slash and a NAME has no space, so that no path can look like a sandbox; the hash has a fixed
/// length at the end, so that no path can look like a hash.
private struct UnverifiedName {
    let path: String
    let sha256: String
    let sandbox: Sandbox

    var text: String {
        switch sandbox {
        case .none: "\(path) sha256:\(sha256)"
        case .some(let name): "sandbox:\(name ?? "unknown") \(path) sha256:\(sha256)"
        // Refused before it comes to a name; if it did, it would be nobody's.
        case .cannotTell: "sandbox:unknown \(path) sha256:\(sha256)"
        }
    }
}

extension Executable {
    var isInterpreter: Bool { sameAsInterpreter != nil || Interpreter.isInterpreter(name: name) }
}
