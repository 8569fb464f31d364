import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerContactsStore
import BrokerLedger
import BrokerVarlink
import Glibc

/// An audit record that a book names, but that is missing from the audit or different there. Such a record
/// shows that the audit was replaced by an older or a different one.
package struct ContradictedAnchor: Hashable, Sendable {
    package let uid: UInt32
    package let sequence: Int64
}

extension Books {
    /// The users who have a folder in the state folder, read from the file system.
    package static func users(in folder: String) -> [UInt32] {
        guard let directory = opendir(folder + "/users") else { return [] }
        defer { closedir(directory) }
        var users: [UInt32] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let uid = UInt32(name), "\(uid)" == name { users.append(uid) }
        }
        return users.sorted()
    }
}

extension AuditReader {
    /// Compares the anchors of all books with the audit chain. A book that cannot be read is skipped; the
    /// broker reports it when it opens the book. This method reads files, so it must not run on the event
    /// loop.
    package func contradictions(in folder: String) throws(AccessStoreError) -> [ContradictedAnchor] {
        var found: [ContradictedAnchor] = []
        for uid in Books.users(in: folder) {
            guard let anchor = try? AuditAnchor.read(folder: Books.folder(of: uid, in: folder)), anchor.sequence > 0,
                try !has(AuditPosition(sequence: anchor.sequence, hash: anchor.hash))
            else { continue }
            found.append(ContradictedAnchor(uid: uid, sequence: anchor.sequence))
        }
        return found
    }
}

/// Checks shortly after the start whether the audit matches the anchors in the books. It lives on the event loop.
package struct AnchorCheck {
    package let surroundings: Surroundings
    package let feed: AuditFeed
    package let groupCommit: GroupCommit

    package init(surroundings: Surroundings, feed: AuditFeed, groupCommit: GroupCommit) {
        self.surroundings = surroundings
        self.feed = feed
        self.groupCommit = groupCommit
    }

    package func schedule() {
        let folder = surroundings.stateFolder
        surroundings.loop.later(after: surroundings.limits.readsAuditAfter) {
            feed.read(
                { (reader) throws(AccessStoreError) in try reader.contradictions(in: folder) }, failed: {}, report)
        }
    }

    private func report(_ found: [ContradictedAnchor]) {
        for anchor in found {
            surroundings.notice(
                .auditContradicted,
                "the audit does not match the address book of user \(anchor.uid): record \(anchor.sequence), which the book names, "
                    + "is missing or different, so disclosures and revocations since then may be missing; compare "
                    + "access.sqlite with a backup", [("uid", "\(anchor.uid)")])
            groupCommit.record(
                .gap, uid: anchor.uid,
                detail: "record \(anchor.sequence), which the address book names, is missing or another one")
        }
    }
}
