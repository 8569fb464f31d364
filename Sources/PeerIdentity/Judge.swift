import AccessControl

/// Says who a caller is, from evidence alone. Pure.
///
/// The kinds are tried in order, the surest first. Only a definite "not this kind" leads on to the next; what
/// cannot be told refuses.
public func judge(_ evidence: Evidence) -> Judgement {
    for strength in IdentityStrength.allCases {
        switch examine(evidence, as: strength) {
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

private func examine(_ evidence: Evidence, as strength: IdentityStrength) -> Finding {
    switch strength {
    case .labelled, .sandboxed:
        // Who is in the sandbox is judged with the privileged collector, which alone can compare label, control
        // group and namespaces with process 1's. Here it is told that there is one, and the caller stays unverified.
        switch Sandbox(evidence) {
        case .none, .some: .isNot
        case .cannotTell(let refusal): .cannotTell(refusal)
        }
    case .service, .installed:
        // Both need the system manager's word or process 1's view of the files: not in this mode.
        .isNot
    case .claimed:
        examineClaimed(evidence)
    case .unverified:
        examineUnverified(evidence)
    }
}

/// A unit of the user's own manager that carries an app's name, and no terminal.
private func examineClaimed(_ evidence: Evidence) -> Finding {
    // Without the socket's own word on the process, the group may be that of the next holder of its number.
    guard evidence.pidfdSource == .socket, evidence.terminal == nil, Sandbox(evidence) == .none else { return .isNot }
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
            evidence.caller(.claimed, app: unit.app, displayName: unit.app, executable: executable, session: nil))
    case .absent: return .cannotTell(.noExecutable)
    case .unreadable(let errno): return .cannotTell(.unreadable(.executable, errno: errno))
    }
}

/// A path and the hash of the very file that runs.
private func examineUnverified(_ evidence: Evidence) -> Finding {
    let executable: Executable
    switch evidence.executable {
    case .found(let found): executable = found
    case .absent: return .cannotTell(.noExecutable)
    case .unreadable(let errno): return .cannotTell(.unreadable(.executable, errno: errno))
    }
    guard case .sha256(let sha256) = executable.digest else { return .cannotTell(.notHashed(executable.digest)) }
    var session: SessionIdentity?
    if evidence.terminal != nil {
        switch evidence.session {
        case .found(let found): session = found
        case .absent: return .cannotTell(.noSessionLeader)
        case .unreadable(let errno): return .cannotTell(.unreadable(.session, errno: errno))
        }
    }
    let name = UnverifiedName(path: executable.path, sha256: sha256, sandbox: Sandbox(evidence))
    return .isCaller(
        evidence.caller(
            .unverified, app: name.text, displayName: executable.name, executable: executable, session: session))
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

extension Evidence {
    fileprivate func caller(
        _ strength: IdentityStrength, app: String, displayName: String, executable: Executable,
        session: SessionIdentity?
    ) -> Caller {
        let sandbox = Sandbox(self)
        return Caller(
            uid: uid, strength: strength, app: app, displayName: displayName, executable: executable.path,
            process: process, session: session, terminal: terminal?.name,
            // What is in a sandbox nobody can name chose its own executable and what it loads into it: one such
            // program must not come by what was granted to another, so that its grants end with it.
            isInterpreter: executable.isInterpreter || sandbox == .some(name: nil),
            isSandboxed: sandbox != .none)
    }

    fileprivate var session: Reading<SessionIdentity> {
        switch (bootIdentifier, sessionLeader) {
        case (.found(let boot), .found(let leader)):
            .found(SessionIdentity(bootIdentifier: boot, leader: leader))
        case (.unreadable(let errno), _), (_, .unreadable(let errno)): .unreadable(errno: errno)
        case (.absent, _), (_, .absent): .absent
        }
    }
}
