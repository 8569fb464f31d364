import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// The services that apps' calls need. An app's call gets the book only through the methods of this class. It
/// lives on the event loop.
final class AppServices {
    let surroundings: Surroundings
    let access: AccessStore
    let groupCommit: GroupCommit
    let grants: Grants
    let books: Books
    let longReads: LongReads
    let history: History
    let places: HistoryPlaces
    let saves: Saves
    let recovery: SaveRecovery
    let questions: Questions
    let checks: ExecutableChecks
    let pace: AuditPace
    let problems: StoreProblems

    init(
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

    var limits: Limits { surroundings.limits }
    var seconds: Int64 { surroundings.seconds }
}
