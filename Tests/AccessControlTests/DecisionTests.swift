import ContactsModel
import Testing

@testable import AccessControl

private let ada = RecordNumber(1)
private let keys = Grant.ordinaryKeys

private func granted(_ access: Access) -> Standing {
    .granted(Grant(access: access, revision: 7, decidedBy: .person, decidedAt: 0))
}

private let limited = granted(.limited(to: [ada]))
private let full = granted(.full)
private let denied = granted(.denied)
private let itsContacts = Decision.permit(Disclosure(scope: .only([ada]), keys: keys, revision: 7))
private let everything = Decision.permit(Disclosure(scope: .all, keys: keys, revision: 7))

/// One row of the table: what an operation gets under a standing, and what once the person has been asked.
struct Row: Sendable, CustomTestStringConvertible {
    let operation: AccessControl.Operation
    let standing: Standing
    let first: Decision
    let onceAsked: Decision
    var testDescription: String { "\(operation) when \(standing.status)" }

    init(_ operation: AccessControl.Operation, _ standing: Standing, _ first: Decision, onceAsked: Decision? = nil) {
        self.operation = operation
        self.standing = standing
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

@Suite("Deciding what an app gets")
struct DecisionTests {
    @Test("An app gets what the table says, and nobody is asked twice", arguments: table)
    func row(_ row: Row) {
        #expect(decide(row.operation, standing: row.standing) == row.first)
        #expect(decide(row.operation, standing: row.standing, mayAsk: false) == row.onceAsked)
    }

    @Test("The table speaks of every operation under every standing, once")
    func complete() {
        let places = table.map { "\($0.operation) \($0.standing.status)" }
        #expect(Set(places).count == places.count)
        #expect(places.count == AccessControl.Operation.allCases.count * AuthorizationStatus.allCases.count)
    }

    @Test("An empty selection permits reading, of nothing")
    func emptySet() {
        let disclosure = Disclosure(scope: .only([]), keys: keys, revision: 7)
        #expect(decide(.read, standing: granted(.limited(to: []))) == .permit(disclosure))
    }

    @Test("A grant of some keys permits those keys and no others")
    func keyScope() {
        let names = Grant(access: .full, keys: .names, revision: 3, decidedBy: .person, decidedAt: 0)
        let disclosure = Disclosure(scope: .all, keys: .names, revision: 3)
        #expect(decide(.read, standing: .granted(names)) == .permit(disclosure))
    }
}

@Suite("How long a grant lasts")
struct LifetimeTests {
    private func grant(_ lifetime: Lifetime) -> Grant {
        Grant(access: .full, lifetime: lifetime, revision: 1, decidedBy: .person, decidedAt: 0)
    }

    @Test("A grant until a time holds to the last second before it, and not in that second")
    func end() {
        #expect(!grant(.untilTime(100)).hasExpired(at: 99))
        #expect(grant(.untilTime(100)).hasExpired(at: 100))
        #expect(grant(.untilTime(100)).hasExpired(at: 101))
    }

    @Test("No time ends a grant that names none", arguments: [Lifetime.untilRevoked, .session, .process])
    func noEnd(lifetime: Lifetime) {
        #expect(!grant(lifetime).hasExpired(at: .max))
    }
}
