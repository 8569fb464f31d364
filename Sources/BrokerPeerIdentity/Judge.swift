import BrokerAccessControl

/// Derives a caller's identity from evidence. The result depends only on the arguments.
///
/// Identity strengths are tried in order, the strongest first. The next strength is tried only if the
/// evidence rules out the current one. If the evidence is insufficient to decide, the caller is refused.
///
/// - Parameter declared: the folders that the person declared; empty in system mode.
public func judge(
    _ evidence: Evidence, manifests: AppManifests = AppManifests(), declared: [DeclaredFolder] = []
) -> Judgement {
    // The sandbox comes first: at no strength may a sandboxed caller be taken for a program of the host.
    let sandbox = Sandbox(evidence)
    if case .cannotTell(let refusal) = sandbox { return .refused(refusal) }
    let examination = Examination(evidence: evidence, sandbox: sandbox, manifests: manifests, declared: declared)
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
    let declared: [DeclaredFolder]

    func finding(_ strength: IdentityStrength) -> Finding {
        // Without `SO_PEERPIDFD` the evidence may be about a later process with the same pid.
        guard evidence.pidfdSource == .socket || strength == .unverified else { return .isNot }
        switch strength {
        case .labelled: return isOfSystem ? labelled() : .isNot
        case .sandboxed: return isOfSystem ? sandboxed() : .isNot
        case .service: return isOfSystem ? service() : .isNot
        case .installed: return isOfSystem ? installed() : .isNot
        case .claimed: return claimed()
        case .unverified: return unverified()
        // No process has this strength: a connection gets it by its password.
        case .password: return .isNot
        // Every caller that could be identified this way is unverified, which ``unverified()`` decides.
        case .declared: return .isNot
        }
    }

    /// The four strongest identity strengths need evidence about process 1, which an ordinary program of the
    /// user cannot collect.
    private var isOfSystem: Bool { evidence.vantage == .system }

    private var isApartFromFirst: Bool { Sandbox.isApart(evidence, \.mount) == .found(true) }

    /// A snap with an enforced label and a matching control group, in a different mount namespace from
    /// process 1. A label alone proves nothing: an unconfined program can set it for itself,
    /// aa_change_profile(2).
    private func labelled() -> Finding {
        guard case .found(let text) = evidence.label, let label = SnapLabel(text), label.isEnforced,
            let snap = label.snap, isApartFromFirst, case .found(let path) = evidence.controlGroup,
            ControlGroup.sandboxName(in: path) == snap
        else { return .isNot }
        return named(.labelled, app: snap)
    }

    /// A Flatpak app has three signs: a `/.flatpak-info`, a separate mount namespace, and a Flatpak control
    /// group of its user's service manager. The file and the control group must name the same app. A program
    /// of the host can fake all three signs to pass for a Flatpak app; a sandboxed program cannot.
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

    /// At these strengths the app's name does not come from the executable, so the caller may be an
    /// interpreter.
    private func named(_ strength: IdentityStrength, app: String) -> Finding {
        switch evidence.executable {
        case .found(let executable):
            return .isCaller(caller(strength, app: app, displayName: app, executable, nil, isInterpreter: false))
        case .absent: return .cannotTell(.noExecutable)
        case .unreadable(let errno): return .cannotTell(.unreadable(.executable, errno: errno))
        }
    }

    /// A caller whose executable is the exact file that a manifest names, in process 1's mount namespace.
    /// Only root can have created or changed the manifest and the file.
    ///
    /// This strength names the program, not who controls it. Another program of the user can load code into
    /// it, trace it, or set the file as its own executable (prctl(2), `PR_SET_MM_EXE_FILE`). None of these
    /// gives it the group of a setgid file. A setgid file therefore identifies the app only if the process
    /// has the file's group.
    private func installed() -> Finding {
        guard sandbox == .none, case .found(let executable) = evidence.executable, !executable.isDeleted,
            !executable.isInterpreter, let manifest = manifests.manifest(of: executable.path),
            executable.setGroup.map({ $0 == evidence.gid }) ?? true
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

    /// A caller without a terminal, in a unit of the user's own service manager. The unit's name contains the
    /// app's name.
    private func claimed() -> Finding {
        guard evidence.terminal == nil, sandbox == .none else { return .isNot }
        let path: String
        switch evidence.controlGroup {
        case .found(let found): path = found
        case .absent: return .isNot
        case .unreadable(let errno): return .cannotTell(.unreadable(.controlGroup, errno: errno))
        }
        // A process in another user's unit, as after sudo, is not that user's app.
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

    /// Identifies the app by the path and the hash of the executable, or by a declared folder above it.
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
            if let folder = declaredFolder(of: executable) {
                return .isCaller(
                    caller(
                        .declared, app: folder.app(program: executable.name), displayName: executable.name, executable,
                        session, isInterpreter: false))
            }
            return .isCaller(
                caller(
                    .unverified, app: name.text, displayName: executable.name, executable, session,
                    // A program in a sandbox without a known name may have chosen its own executable and
                    // libraries. It is therefore treated like an interpreter, which gets no persistent grant.
                    isInterpreter: executable.isInterpreter || sandbox == .some(name: nil)))
        }
    }

    /// The innermost declared folder above the executable.
    ///
    /// Every program that can write into the folder can act as the app. Therefore the file and each folder
    /// down to it must belong to the user, and nobody else may write to them. They must be on one mount, because what is
    /// mounted below the folder is not in it. A deleted file is in no folder.
    private func declaredFolder(of executable: Executable) -> DeclaredFolder? {
        guard !declared.isEmpty, evidence.vantage == .session, evidence.pidfdSource == .socket, sandbox == .none,
            case .found(let namespace) = evidence.namespaces.mount,
            evidence.ownNamespaces.mount == .found(namespace), !executable.isDeleted, !executable.isInterpreter,
            case .found(let chain) = evidence.folders, chain.owner == evidence.uid, !chain.isSharedForWriting
        else { return nil }
        for folder in chain.folders.reversed() {
            guard folder.owner == evidence.uid, !folder.isSharedForWriting, folder.isOnMountOfFile,
                let identity = folder.identity
            else { return nil }
            let found = declared.first {
                $0.uid == evidence.uid && $0.identity == identity && $0.path == folder.path
            }
            if let found { return found }
        }
        return nil
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
            isInterpreter: isInterpreter, isSandboxed: sandbox != .none, sandbox: sandboxApart)
    }

    /// The sandbox of a caller in a different mount namespace from process 1; `nil` for any other caller.
    private var sandboxApart: String? {
        guard isApartFromFirst, case .found(let number) = evidence.namespaces.mount else { return nil }
        if case .some(let name?) = sandbox { return name }
        return "mount namespace \(number)"
    }
}

/// The identifier of an unverified app: `PATH sha256:HEX`, and in a sandbox `sandbox:NAME PATH sha256:HEX`.
/// NAME is `unknown` if the sandbox has no known name.
///
/// The forms are unambiguous. A path begins with a slash and NAME has no space, so no path can pass for a
/// sandbox. The hash is at the end and has a fixed length, so no path can pass for a hash.
private struct UnverifiedName {
    let path: String
    let sha256: String
    let sandbox: Sandbox

    var text: String {
        switch sandbox {
        case .none: "\(path) sha256:\(sha256)"
        case .some(let name): "sandbox:\(name ?? "unknown") \(path) sha256:\(sha256)"
        // Unreachable: `judge` refuses such a caller earlier.
        case .cannotTell: "sandbox:unknown \(path) sha256:\(sha256)"
        }
    }
}

extension Executable {
    var isInterpreter: Bool { sameAsInterpreter != nil || Interpreter.isInterpreter(name: name) }
}
