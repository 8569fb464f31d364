import BrokerBounds
import BrokerModel
import BrokerSQLite

/// Groups whose members are shared with an app. They are found by name only if an app with access to every card gave them
/// the name: any app may make a group, and could otherwise take the place of one that is shared.
extension ContactsStore {
    /// Returns the cards that a group shares with the apps that have it; `nil` if there is no such group.
    ///
    /// A card is shared if an app with access to every card added it to the group, and if it is in the group's
    /// container. Cards of subgroups are not shared.
    public func sharedMembers(of group: RecordNumber) throws(StoreError) -> Set<RecordNumber>? {
        try read { reader in
            try reader.inOneRead {
                guard try reader.statement(ReadSQL.group).bind(1, group.rawValue).hasRow() else { return nil }
                return Set(
                    try reader.statement(ReadSQL.sharedMembers).bind(1, group.rawValue)
                        .bind(2, Int64(StoreLimits.sharedMembers)).records())
            }
        }
    }

    /// Returns the groups whose name begins with a text, whatever the case of its ASCII letters, at most `limit`.
    public func groups(beginning text: String, limit: Int) throws(StoreError) -> [(record: RecordNumber, name: String)]
    {
        let pattern = text.reduce(into: "") { $0 += "%_!".contains($1) ? "!\($1)" : String($1) } + "%"
        return try read { reader in
            try reader.inOneRead {
                try reader.statement(ReadSQL.groupsBeginning).bind(1, pattern).bind(2, Int64(limit))
                    .all { (RecordNumber($0.integer(0)), $0.text(1)) }
            }
        }
    }

    /// Returns the groups with exactly this name, at most `limit`.
    ///
    /// - Parameter byAnyApp: whether groups count that an app without access to every card named.
    public func groups(
        named name: String, limit: Int, byAnyApp: Bool = false
    ) throws(StoreError) -> [RecordNumber] {
        try read { reader in
            try reader.inOneRead {
                try reader.statement(ReadSQL.groupsWithName).bind(1, name).bind(2, byAnyApp ? 0 : 1)
                    .bind(3, Int64(limit)).records()
            }
        }
    }
}
