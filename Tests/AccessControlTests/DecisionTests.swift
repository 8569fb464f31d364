import BrokerModel
import Testing

@testable import BrokerAccessControl

private let ada = RecordNumber(1)
private let keys = Grant.ordinaryKeys

private func granted(_ access: Access) -> EffectiveAccess {
    .granted(Grant(access: access, revision: 7, decidedBy: .person, decidedAt: 0))
}

private let limited = granted(.limited(to: [ada]))
private let full = granted(.full)
private let denied = granted(.denied)
private let itsContacts = Decision.permit(Disclosure(scope: .only([ada]), keys: keys, revision: 7))
private let everything = Decision.permit(Disclosure(scope: .all, keys: keys, revision: 7))

/// The calls that an app can make, named by what they disclose or change.
enum Operation: String, CaseIterable, Sendable {
    case getAuthorization, requestAccess, requestNotes, read, save, watchChanges, requestContacts, manageAccess,
        pickContacts
    case proposeContact
}

/// The decision on an operation, in one type for all operations.
enum Decision: Hashable, Sendable {
    case answer(AuthorizationStatus)
    case permit(Disclosure)
    case ask(PromptKind)
    case askQuietly(PromptKind)
    case answerEmpty, wait
    case refuse(Denial)

    init(_ decision: AccessDecision) {
        switch decision {
        case .permit(let disclosure): self = .permit(disclosure)
        case .ask: self = .ask(.access)
        case .refuse(let denial): self = .refuse(denial)
        }
    }

    init(_ decision: OfferDecision, _ kind: PromptKind) {
        switch decision {
        case .ask(let isQuiet): self = isQuiet ? .askQuietly(kind) : .ask(kind)
        case .answerEmpty: self = .answerEmpty
        case .refuse(let denial): self = .refuse(denial)
        }
    }
}

private func decide(_ operation: Operation, access: EffectiveAccess, mayAsk: Bool = true) -> Decision {
    switch operation {
    case .getAuthorization: return .answer(access.status)
    case .requestAccess:
        switch decideRequest(access, mayAsk: mayAsk) {
        case .ask: return .ask(.access)
        case .askForKeys: return .ask(.keys)
        case .answer(let status): return .answer(status)
        }
    case .requestNotes:
        switch decideRequest(access, lacking: ContactKeySet(.note), mayAsk: mayAsk) {
        case .ask: return .ask(.access)
        case .askForKeys(let keys): return keys == ContactKeySet(.note) ? .ask(.keys) : .wait
        case .answer(let status): return .answer(status)
        }
    case .read, .save: return Decision(decideAccess(access, mayAsk: mayAsk))
    case .watchChanges:
        switch decideWatch(access) {
        case .permit(let disclosure): return .permit(disclosure)
        case .wait: return .wait
        case .refuse(let denial): return .refuse(denial)
        }
    case .requestContacts: return Decision(decideButton(access, mayAsk: mayAsk), .button)
    case .manageAccess: return decideManage(access, mayAsk: mayAsk) == .ask ? .ask(.manage) : .answerEmpty
    case .pickContacts: return Decision(decideOffer(access, mayAsk: mayAsk), .pick)
    case .proposeContact: return Decision(decideOffer(access, mayAsk: mayAsk), .propose)
    }
}

/// One row of the table: the decision on an operation under an effective access, before and after a prompt.
struct Row: Sendable, CustomTestStringConvertible {
    let operation: Operation
    let access: EffectiveAccess
    let first: Decision
    let onceAsked: Decision
    var testDescription: String { "\(operation) when \(access.status)" }

    init(_ operation: Operation, _ access: EffectiveAccess, _ first: Decision, onceAsked: Decision? = nil) {
        self.operation = operation
        self.access = access
        self.first = first
        self.onceAsked = onceAsked ?? first
    }
}

private let table = [
    Row(.getAuthorization, .notDetermined, .answer(.notDetermined)),
    Row(.getAuthorization, limited, .answer(.limited)),
    Row(.getAuthorization, full, .answer(.full)),
    Row(.getAuthorization, denied, .answer(.denied)),
    Row(.getAuthorization, .restricted, .answer(.restricted)),

    Row(.requestAccess, .notDetermined, .ask(.access), onceAsked: .answer(.notDetermined)),
    Row(.requestAccess, limited, .answer(.limited)),
    Row(.requestAccess, full, .answer(.full)),
    Row(.requestAccess, denied, .answer(.denied)),
    Row(.requestAccess, .restricted, .answer(.restricted)),

    // The app names notes, and its grant lacks them.
    Row(.requestNotes, .notDetermined, .ask(.access), onceAsked: .answer(.notDetermined)),
    Row(.requestNotes, limited, .ask(.keys), onceAsked: .answer(.limited)),
    Row(.requestNotes, full, .ask(.keys), onceAsked: .answer(.full)),
    Row(.requestNotes, denied, .answer(.denied)),
    Row(.requestNotes, .restricted, .answer(.restricted)),

    Row(.read, .notDetermined, .ask(.access), onceAsked: .refuse(.notDetermined)),
    Row(.read, limited, itsContacts),
    Row(.read, full, everything),
    Row(.read, denied, .refuse(.denied)),
    Row(.read, .restricted, .refuse(.restricted)),

    Row(.save, .notDetermined, .ask(.access), onceAsked: .refuse(.notDetermined)),
    Row(.save, limited, itsContacts),
    Row(.save, full, everything),
    Row(.save, denied, .refuse(.denied)),
    Row(.save, .restricted, .refuse(.restricted)),

    Row(.watchChanges, .notDetermined, .wait),
    Row(.watchChanges, limited, itsContacts),
    Row(.watchChanges, full, everything),
    Row(.watchChanges, denied, .refuse(.denied)),
    Row(.watchChanges, .restricted, .refuse(.restricted)),

    Row(.requestContacts, .notDetermined, .ask(.button), onceAsked: .answerEmpty),
    Row(.requestContacts, limited, .ask(.button), onceAsked: .answerEmpty),
    Row(.requestContacts, full, .answerEmpty),
    Row(.requestContacts, denied, .askQuietly(.button), onceAsked: .answerEmpty),
    Row(.requestContacts, .restricted, .refuse(.restricted)),

    Row(.manageAccess, .notDetermined, .answerEmpty),
    Row(.manageAccess, limited, .ask(.manage), onceAsked: .answerEmpty),
    Row(.manageAccess, full, .answerEmpty),
    Row(.manageAccess, denied, .answerEmpty),
    Row(.manageAccess, .restricted, .answerEmpty),

    Row(.pickContacts, .notDetermined, .ask(.pick), onceAsked: .answerEmpty),
    Row(.pickContacts, limited, .ask(.pick), onceAsked: .answerEmpty),
    Row(.pickContacts, full, .ask(.pick), onceAsked: .answerEmpty),
    Row(.pickContacts, denied, .askQuietly(.pick), onceAsked: .answerEmpty),
    Row(.pickContacts, .restricted, .refuse(.restricted)),

    Row(.proposeContact, .notDetermined, .ask(.propose), onceAsked: .answerEmpty),
    Row(.proposeContact, limited, .ask(.propose), onceAsked: .answerEmpty),
    Row(.proposeContact, full, .ask(.propose), onceAsked: .answerEmpty),
    Row(.proposeContact, denied, .askQuietly(.propose), onceAsked: .answerEmpty),
    Row(.proposeContact, .restricted, .refuse(.restricted)),
]

@Suite("Decisions on an app's calls")
struct DecisionTests {
    @Test("Each operation gets the decision in the table, and prompts at most once", arguments: table)
    func row(_ row: Row) {
        #expect(decide(row.operation, access: row.access) == row.first)
        #expect(decide(row.operation, access: row.access, mayAsk: false) == row.onceAsked)
    }

    @Test("The table lists each operation once for each authorization level")
    func complete() {
        let places = table.map { "\($0.operation) \($0.access.status)" }
        #expect(Set(places).count == places.count)
        #expect(places.count == Operation.allCases.count * AuthorizationStatus.allCases.count)
    }

    @Test("A grant with an empty granted set permits reading, but discloses no contact")
    func emptySet() {
        let disclosure = Disclosure(scope: .only([]), keys: keys, revision: 7)
        #expect(decide(.read, access: granted(.limited(to: []))) == .permit(disclosure))
    }

    @Test("A grant of some keys permits those keys and no others")
    func keyScope() {
        let names = Grant(access: .full, keys: .names, revision: 3, decidedBy: .person, decidedAt: 0)
        let disclosure = Disclosure(scope: .all, keys: .names, revision: 3)
        #expect(decide(.read, access: .granted(names)) == .permit(disclosure))
    }
}

@Suite("How long a grant lasts")
struct LifetimeTests {
    private func grant(_ lifetime: Lifetime) -> Grant {
        Grant(access: .full, lifetime: lifetime, revision: 1, decidedBy: .person, decidedAt: 0)
    }

    @Test("A grant with an end time expires at that second, and not a second earlier")
    func end() {
        #expect(!grant(.untilTime(100)).hasExpired(at: 99))
        #expect(grant(.untilTime(100)).hasExpired(at: 100))
        #expect(grant(.untilTime(100)).hasExpired(at: 101))
    }

    @Test("A grant without an end time never expires", arguments: [Lifetime.untilRevoked, .session, .process])
    func noEnd(lifetime: Lifetime) {
        #expect(!grant(lifetime).hasExpired(at: .max))
    }
}
