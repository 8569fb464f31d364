extension Schema {
    /// Returns the tables and indexes that a book of this version must have.
    static func objects(of version: Int64) -> [String] { objects.filter { $0.since <= version }.flatMap(\.names) }

    /// Conditions on ``BookChange/Kind``. Migration 9 wrote them into partial indexes, so they must not
    /// change. `isOfGroups` selects changes to groups and subgroups, and `isOfMembers` selects added and
    /// removed members.
    static let isOfGroups = "kind IN (4, 5, 6, 9, 10)"
    static let isOfMembers = "kind IN (7, 8)"

    private static let objects: [(since: Int64, names: [String])] = [
        (
            0,
            [
                "book", "contact", "contactByGivenName", "contactByFamilyName", "image", "word", "email",
                "emailByAddress", "phone", "phoneByNational", "contactGroup", "groupByOwner", "member",
                "memberByContact", "subgroup", "subgroupByChild", "author", "change", "changeByRecord",
                "changeByOwner",
            ]
        ), (2, ["beginning"]), (4, ["link"]), (5, ["container", "contactByContainer", "groupByContainer"]),
        (7, ["outbox"]), (8, ["handLink", "unlike", "unsure"]), (9, ["changeOfGroups", "changeByMember"]),
        (12, ["allowance"]), (13, ["wordByKey"]), (14, ["apart"]), (17, ["photographed"]), (19, ["uid"]),
        (
            21,
            [
                "bin", "binSave", "binSaveByTime", "binItem", "binItemBySubject", "binItemBySave", "binItemByRank",
                "binPhoto",
            ]
        ), (23, ["binSaveByGroup"]),
    ]
}
