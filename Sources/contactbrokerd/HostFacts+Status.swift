import BrokerPeerIdentity

extension HostFacts {
    /// The facts as `contactctl status` shows them.
    var described: [(name: String, value: String)] {
        [
            ("peerPidfd", hasPeerPidfd ? "yes" : "no: a caller's process ID may be reused before it is identified"),
            ("legacyTIOCSTI", Self.text(legacyTIOCSTI)),
            ("ptraceScope", Self.text(ptraceScope)),
        ]
    }

    private static func text(_ observation: Observation<Int>) -> String {
        switch observation {
        case .found(let value): "\(value)"
        case .absent: "not there"
        case .unreadable(let errno): "not readable (error \(errno))"
        }
    }
}
