import BrokerCommandOutput
import BrokerJSON

extension AdminClient {
    /// Tells the person if the grants are without effect because the broker cannot read the policy or the settings.
    func reportRefusal(of grants: [AppGrant]) throws {
        // Then every app is restricted, so without such an app the broker need not be asked.
        guard grants.contains(where: { $0.byPolicy == "restricted" }) else { return }
        let status = try call("GetStatus")["status"]
        for subject in ["policy", "settings"] where status?["\(subject)Problem"] != nil {
            Speech.say(
                "every app is refused, because the administrator's \(subject) cannot be read; "
                    + "tell the administrator: contactctl status")
        }
    }
}
