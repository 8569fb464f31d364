import BrokerInterface
import BrokerJSON
import Foundation
import Synchronization

/// The person's preferences for contacts, shared by all of their programs.
public final class CNContactsUserDefaults: NSObject, Sendable {
    private static let common = CNContactsUserDefaults()

    /// Returns the person's preferences. Each read of a property asks the broker, and never prompts. If the
    /// app has no access, the country comes from the environment, and given names come first.
    public class func shared() -> CNContactsUserDefaults { common }

    /// The order in which contacts are listed: `givenName` or `familyName`.
    public var sortOrder: CNContactSortOrder {
        defaults?["sortOrder"]?.string == "familyName" ? .familyName : .givenName
    }

    /// The order in which to show given and family names, unless the rules for a name's script decide it.
    /// ``CNContactFormatter`` uses this order. An extension of this library.
    public var displayNameOrder: CNContactDisplayNameOrder { knownDisplayNameOrder ?? .givenNameFirst }

    /// The display order; `nil` if the broker did not return it.
    var knownDisplayNameOrder: CNContactDisplayNameOrder? {
        (defaults?["displayOrder"]?.string).map { $0 == "familyName" ? .familyNameFirst : .givenNameFirst }
    }

    /// The language whose alphabet determines the order of names: a BCP 47 tag, or a locale such as `sv_SE`; empty
    /// for the
    /// root order of Unicode. If the app has no access, it comes from the environment. An extension of this library.
    public var language: String {
        if let language = defaults?["language"]?.string { return language }
        let environment = ProcessInfo.processInfo.environment
        return ["LC_ALL", "LC_COLLATE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    }

    /// The country of the person’s phone numbers (ISO 3166-1, lower case).
    public var countryCode: String {
        if let code = defaults?["countryCode"]?.string, !code.isEmpty { return code.lowercased() }
        return Locale.region?.lowercased() ?? "us"
    }

    private var defaults: JSONValue? {
        WaitBudget.forOneCall {
            switch CNContactStore.authorizationStatus(for: .contacts) {
            case .authorized, .limited: try? BrokerCalls.shared.call(.getUserDefaults)
            case .notDetermined, .denied, .restricted: nil
            }
        }
    }

    /// Sets the person's preferences; `nil` leaves a preference unchanged. This needs full access and
    /// ``CNContactChangeRight/all``. An
    /// extension of this library.
    ///
    /// - Parameter language: a BCP 47 tag, such as `sv`; empty for the language of the broker's settings or locale.
    /// After a
    ///   change, a list that an app reads page by page must begin again.
    public func set(
        sortOrder: CNContactSortOrder? = nil, displayNameOrder: CNContactDisplayNameOrder? = nil,
        countryCode: String? = nil, language: String? = nil
    ) throws {
        _ = try CNContactStore.answer { () throws(CallFailure) in
            try BrokerCalls.shared.call(.setUserDefaults) {
                $0.member("sortOrder", sortOrder?.order.rawValue)
                $0.member("displayOrder", displayNameOrder.map { $0 == .familyNameFirst ? "familyName" : "givenName" })
                $0.member("countryCode", countryCode)
                $0.member("language", language)
            }
        }
        PreferredNameOrder.shared.expire()
    }
}
