import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// The services that apps' calls need. An app's call gets the book only through the methods of this class. It
/// lives on the event loop.
package final class AppServices {
    package let surroundings: Surroundings
    package let access: AccessStore
    package let groupCommit: GroupCommit
    package let grants: Grants
    package let books: Books
    package let longReads: LongReads
    package let history: History
    package let places: HistoryPlaces
    package let saves: Saves
    package let recovery: SaveRecovery
    package let questions: Questions
    package let checks: ExecutableChecks
    package let pace: AuditPace
    package let problems: StoreProblems

    package init(
        surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, grants: Grants, books: Books,
        longReads: LongReads, history: History, places: HistoryPlaces, saves: Saves, recovery: SaveRecovery,
        questions: Questions, checks: ExecutableChecks, pace: AuditPace, problems: StoreProblems
    ) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.grants = grants
        self.books = books
        self.longReads = longReads
        self.history = history
        self.places = places
        self.saves = saves
        self.recovery = recovery
        self.questions = questions
        self.checks = checks
        self.pace = pace
        self.problems = problems
    }

    package var limits: Limits { surroundings.limits }
    package var seconds: Int64 { surroundings.seconds }
}
