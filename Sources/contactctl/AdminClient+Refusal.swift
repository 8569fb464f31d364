import BrokerCommandOutput
import BrokerJSON

extension AdminClient {
    /// Tells the person if the grants are without effect because the broker cannot read the policy or the settings.
    func reportRefusal(of grants: [AppGrant]) throws {
        // Then every app is restricted, so without such an app the broker need not be asked.
        guard grants.contains(where: { $0.byPolicy == "restricted" }) else { return }
        let status = try call("GetStatus")["status"]
        for subject in ["policy", "settings"] {
            guard let problem = status?["\(subject)Problem"]?.string else { continue }
            // Only those who can correct the file get to know which it is.
            let isWhole = problem.contains(": ")
            Speech.say(
                "every app is refused, because the administrator's \(subject) cannot be read; "
                    + (isWhole ? "to see the mistake: contactctl status" : "tell the administrator"))
        }
    }
}
