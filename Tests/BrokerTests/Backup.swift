import BrokerInterface
import BrokerJSON
import Glibc
import Testing

@testable import BrokerCore

/// A backup as `contactctl` gets it: pieces of lines, each with its code.
struct Backup {
    struct Piece {
        var lines: [String]
        var code: String
    }

    var pieces: [Piece]

    /// Makes a backup of a user as that user, who gives the password, or in session mode.
    init(of fixture: BrokerFixture, uid: UInt32 = 1_000, by caller: UInt32? = nil) throws {
        let ctl = TestApp(
            fixture: fixture, caller: fixture.caller("contactctl", uid: caller ?? uid), interface: .admin)
        let replies = try ctl.stream("BackUp", #"{"uid":\#(uid),"allowInteractiveAuthentication":true}"#)
        pieces = try replies.map { reply in
            try #require(reply.error == nil, "\(reply.error ?? "") \(reply.text)")
            let lines = reply.parameters["lines"]?.elements.map(Array.init) ?? []
            return Piece(
                lines: lines.map { String(decoding: $0.text, as: UTF8.self) },
                code: reply.parameters["code"]?.string ?? "")
        }
    }

    /// The lines with this member.
    func lines(_ name: String) -> [String] {
        pieces.flatMap(\.lines).filter { $0.hasPrefix(#"{"\#(name)":"#) }
    }

    /// The lines that make up the address book.
    var book: [String] {
        pieces.flatMap(\.lines).filter { line in
            !["backup", "app", "granted", "own"].contains { line.hasPrefix(#"{"\#($0)":"#) }
        }
    }

    /// Restores the backup, and returns the first error or the last reply.
    ///
    /// - Parameters:
    ///   - caller: the user who restores it; `nil` for `uid`.
    ///   - options: further parameters of `BeginRestore`, as JSON.
    @discardableResult
    func restore(
        in fixture: BrokerFixture, uid: UInt32 = 1_000, by caller: UInt32? = nil, _ options: String = "",
        replaces: Bool = false
    ) throws -> Answer {
        let ctl = TestApp(
            fixture: fixture, caller: fixture.caller("contactctl", uid: caller ?? uid), interface: .admin)
        defer { ctl.hangUp() }
        return try restore(through: ctl, uid: uid, options, replaces: replaces)
    }

    func restore(
        through ctl: TestApp, uid: UInt32 = 1_000, _ options: String = "", replaces: Bool = false,
        beforeTheEnd: () throws -> Void = {}
    ) throws -> Answer {
        let begun = try ctl.call(
            "BeginRestore", #"{"uid":\#(uid),"allowInteractiveAuthentication":true\#(options)}"#)
        guard begun.error == nil else { return begun }
        for piece in pieces {
            let answer = try ctl.call(
                "RestoreLines",
                #"{"uid":\#(uid),"lines":[\#(piece.lines.joined(separator: ","))],"code":"\#(piece.code)"}"#)
            guard answer.error == nil else { return answer }
        }
        try beforeTheEnd()
        return try ctl.call("FinishRestore", #"{"uid":\#(uid),"replaces":\#(replaces)}"#)
    }

    /// Makes a broker accept the backups of another one.
    static func copyKey(from one: BrokerFixture, to other: BrokerFixture) throws {
        let key = try #require(BrokerFixture.bytes(of: one.folder + "/backup.key"))
        let file = open(other.folder + "/backup.key", O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        try #require(write(file, key, key.count) == key.count)
    }
}
