import BrokerInterface
import BrokerJSON
import Foundation
import Synchronization

/// What the person prefers, for contacts in all of their programs.
public final class CNContactsUserDefaults: NSObject, Sendable {
    private static let common = CNContactsUserDefaults()

    /// The person’s preferences. They are looked up each time, and never have the person asked: where nothing was decided yet,
    /// or the app may not know, they are the environment’s.
    public class func shared() -> CNContactsUserDefaults { common }

    /// In which order contacts are listed: `givenName` or `familyName`.
    public var sortOrder: CNContactSortOrder {
        defaults?["sortOrder"]?.string == "familyName" ? .familyName : .givenName
    }

    /// Which name is shown first, for names whose own language does not say: ``CNContactFormatter`` keeps to it. An extension
    /// of this library.
    public var displayNameOrder: CNContactDisplayNameOrder { knownDisplayNameOrder ?? .givenNameFirst }

    /// `nil` where nobody told.
    var knownDisplayNameOrder: CNContactDisplayNameOrder? {
        (defaults?["displayOrder"]?.string).map { $0 == "familyName" ? .familyNameFirst : .givenNameFirst }
    }

    /// The country in which the person’s phone numbers are dialled (ISO 3166-1, small letters).
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

    /// Sets the person’s preferences; what is `nil` stays as it is. An extension of this library; for apps with full access.
    public func set(
        sortOrder: CNContactSortOrder? = nil, displayNameOrder: CNContactDisplayNameOrder? = nil,
        countryCode: String? = nil
    ) throws {
        _ = try CNContactStore.answer { () throws(CallFailure) in
            try BrokerCalls.shared.call(.setUserDefaults) {
                $0.member("sortOrder", sortOrder?.order.rawValue)
                $0.member("displayOrder", displayNameOrder.map { $0 == .familyNameFirst ? "familyName" : "givenName" })
                $0.member("countryCode", countryCode)
            }
        }
        PreferredNameOrder.shared.forget()
    }
}
