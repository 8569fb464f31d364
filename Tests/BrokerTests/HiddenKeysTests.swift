import BrokerAccessControl
import BrokerDisclosure
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

/// Two address books differ only in the values of one key: the second has them in reverse order, and some others.
/// An app that may not read the key must see no difference.
@Suite("Sorting and counting by a key that an app may not read")
struct HiddenKeysTests {
    /// Enough that the broker keeps the sorted list of a limited app.
    private static let people = 40

    /// The value of one key in a contact. The contact has no other value to sort or search by, except with the type,
    /// which decides between two names.
    private static func card(_ key: ContactKey, _ number: Int) -> String {
        let word = "Value\(10 + number)"
        return switch key {
        case .contactType:
            #","givenName":"Anna","organizationName":"Firm","contactType":"\#(number < 20 ? "person" : "organization")""#
        case .emailAddresses: #","emailAddresses":[{"value":"\#(word)@example.org"}]"#
        case .phoneNumbers: #","phoneNumbers":[{"value":"+49 30 5550\#(10 + number)"}]"#
        default: #","\#(key.rawValue)":"\#(word)""#
        }
    }

    private static let keys: [ContactKey] = [
        .contactType, .givenName, .middleName, .familyName, .nickname, .phoneticGivenName, .phoneticMiddleName,
        .phoneticFamilyName, .organizationName, .phoneticOrganizationName, .emailAddresses, .phoneNumbers,
    ]

    private static let orders = ["none", "givenName", "familyName", "userDefault"]
    private static let predicates = [
        "", #""predicate":{"name":"value"}"#, #""predicate":{"name":"value12"}"#, #""predicate":{"name":"firm"}"#,
        #""predicate":{"name":"title"}"#, #""predicate":{"emailAddress":"value12@example.org"}"#,
        #""predicate":{"phoneNumber":"+49 30 555012"}"#,
    ]

    /// What an app without the key learns from lists, pages and counts.
    private struct View: Hashable {
        var lists: [[String]] = []
        var counts: [String] = []
    }

    /// Reads as much as an app can. The job title of each contact, which the app may read, says which contact it is.
    private static func view(_ app: TestApp) throws -> View {
        var view = View()
        for predicate in predicates {
            let count = try app.call("CountContacts", "{\(predicate)}")
            view.counts.append(count.text)
            for order in orders {
                for limit in [15, 1_000] {
                    var titles: [String] = []
                    var after = ""
                    repeat {
                        let fields = [predicate, after].filter { !$0.isEmpty }.map { "," + $0 }.joined()
                        let page = try app.call(
                            "FetchContacts",
                            #"{"keys":["jobTitle"],"sortOrder":"\#(order)","limit":\#(limit)\#(fields)}"#)
                        titles += page.contacts.map { $0["jobTitle"]?.string ?? "" } + ["end of page"]
                        after = page.parameters["next"]?.string.map { #""after":"\#($0)""# } ?? ""
                    } while !after.isEmpty
                    view.lists.append(titles)
                }
            }
        }
        return view
    }

    private struct Views {
        var whole: View
        var full: View
        var limited: View
    }

    private static func views(of key: ContactKey, inSecond: Bool, readsOnWorker: Bool) throws -> Views {
        let fixture = try BrokerFixture(readsOnWorker: readsOnWorker)
        let keeper = try fixture.app("keeper", .full)
        let cards = (0..<people).map { number in
            Change.other(
                #"{"operation":"add","contact":{"jobTitle":"Title \#(number)""#
                    + card(key, inSecond ? people + 4 - number : number) + "}}")
        }
        #expect(try keeper.save(cards).error == nil)
        let visible = Grant.ordinaryKeys.subtracting(ContactKeySet([key]))
        let cipher = try #require(fixture.grants.effectiveAccess(of: keeper.session).identifiers)
        let records = try keeper.fetch(#""unify":false"#).contacts.compactMap {
            $0["identifier"]?.string.flatMap { cipher.record($0, as: .contact) }
        }
        #expect(records.count == people)
        // All contacts but one.
        let most = Set(records.sorted().dropFirst())
        // The keeper reads first, so that its sorted lists are in the cache.
        return try Views(
            whole: view(keeper),
            full: view(fixture.app("mail", .full, keys: visible)),
            limited: view(fixture.app("chat", .limited(to: most), keys: visible)))
    }

    @Test(
        "The order of lists, their pages and counts are the same whatever the values of the hidden key",
        arguments: keys, [false, true])
    func sameView(key: ContactKey, readsOnWorker: Bool) throws {
        let first = try Self.views(of: key, inSecond: false, readsOnWorker: readsOnWorker)
        let second = try Self.views(of: key, inSecond: true, readsOnWorker: readsOnWorker)
        #expect(first.full == second.full)
        #expect(first.limited == second.limited)
        // The comparison is meaningful only if an app that may read the key sees a difference. No search is by type.
        #expect(first.whole.lists != second.whole.lists)
        #expect(first.whole.counts != second.whole.counts || key == .contactType)
    }
}
