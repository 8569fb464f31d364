import CBrokerLinux
import Glibc
import Testing

@testable import BrokerPeerIdentity

/// Identities that a broker with all rights assigns to real callers. StrengthProbe is process 1 of its own process
/// namespace, so that process 1 can be inspected wherever the tests run.
@Suite(
    "Callers as the system's broker sees them",
    .enabled(if: Machine.canRunHelper, Machine.helperNeeds),
    .enabled(if: Machine.canMakeNamespaces, "needs namespaces"),
    // The probe mounts another file system there.
    .enabled(if: !RunningHelper.program.hasPrefix("/tmp/"), "needs a checkout that is not below /tmp"),
    .timeLimit(.minutes(10)))
struct RealStrengthTests {
    private static func probe() throws -> [String] {
        var ends: [CInt] = [-1, -1]
        // Unlike those of pipe(2), these descriptors are close-on-exec, so that no other test's process keeps them.
        try #require(clinux_pair(&ends) == 0)
        for end in ends { try #require(fcntl(end, F_SETFL, 0) == 0) }
        let program = RunningHelper.program.dropLast("contactbroker-identify".count) + "StrengthProbe"
        // Descriptor 3 becomes the shell's standard output.
        let pid = try RunningHelper.start(
            [
                "/bin/sh", "-c", #"exec "$@" >&3"#, "sh", "/usr/bin/unshare", "--pid", "--fork", "--kill-child",
                "--mount-proc", "--propagation", "private", String(program), RunningHelper.program,
            ], passing: ends[1])
        close(ends[1])
        guard case .found(let text) = readAll(ends[0], limit: 1_048_576) else { throw TestFailure.unreadable("probe") }
        close(ends[0])
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(RunningHelper.status(of: pid) == 0, "\(lines)")
        return lines
    }

    private static let expected: [(scenario: String, strength: String, app: String)] = [
        ("installed", "installed", "org.example.Cat"),
        // This copy is in a folder that everybody may write to.
        ("copied", "unverified", "/tmp/probe/cat"),
        // The link's target is what runs.
        ("linked", "installed", "org.example.Cat"),
        ("interpreter", "unverified", "/usr/bin/perl"),
        ("userNamespace", "unverified", "sandbox:unknown"),
        ("mountNamespace", "unverified", "sandbox:unknown"),
        ("mountedOver", "unverified", "sandbox:unknown"),
        ("forgedFlatpak", "unverified", "sandbox:unknown"),
        ("forgedScope", "unverified", "sandbox:flatpak.org.example.Mail"),
        ("markInScopeOnly", "unverified", "sandbox:flatpak.org.example.Mail"),
        ("flatpak", "sandboxed", "org.example.Mail"),
        ("flatpakOfAnother", "unverified", "sandbox:flatpak.org.example.Mail"),
        ("otherFlatpak", "unverified", "sandbox:flatpak.org.example.Other"),
        ("service", "service", "probe.service"),
        ("serviceOfAnother", "installed", "org.example.Cat"),
        ("everybodysService", "unverified", "/tmp/probe/cat"),
        ("inactiveService", "unverified", "/tmp/probe/cat"),
        ("servicesName", "unverified", "/tmp/probe/cat"),
    ]

    @Test("Each caller gets its identity, directly and through the helper")
    func callers() throws {
        let lines = try Self.probe()
        for (scenario, strength, app) in Self.expected where !lines.contains(scenario + " skipped") {
            for source in ["itself", "helper"] {
                let said = lines.filter { $0.hasPrefix("\(scenario) \(source) ") }
                #expect(said == ["\(scenario) \(source) \(strength) \(app)"])
            }
        }
        let skipped = lines.filter { $0.hasSuffix(" skipped") }
        if !skipped.isEmpty { print("no control groups can be made here: \(skipped.joined(separator: ", "))") }
        #expect(lines.count == (Self.expected.count - skipped.count) * 2 + skipped.count, "\(lines)")
    }
}
