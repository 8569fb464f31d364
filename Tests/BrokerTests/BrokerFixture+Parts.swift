import BrokerAccessStore

@testable import BrokerAdminCalls
@testable import BrokerBooks
@testable import BrokerCalls
@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

/// The parts of the broker that tests look into. Only this file says where the broker keeps them.
extension BrokerFixture {
    var access: AccessStore { broker.access }
    var books: Books { broker.books }
    var feed: AuditFeed { broker.feed }
    var grants: Grants { broker.grants }
    var groupCommit: GroupCommit { broker.groupCommit }
    var history: History { broker.history }
    var longReads: LongReads { broker.longReads }
    var passwords: Passwords { broker.passwords }
    var problems: StoreProblems { broker.problems }
    var prompts: Prompts { broker.prompts }
    var reloads: PolicyReloads { broker.administrators.reloads }
    var saves: Saves { broker.saves }
    var surroundings: Surroundings { broker.surroundings }
    var thumbnails: Thumbnails { broker.thumbnails }
}
