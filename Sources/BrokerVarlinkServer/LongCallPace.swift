/// Limits how fast the server reads the long calls of each user: a number of bytes in a second, which the user's apps
/// share. Each app may be ahead by ``ahead``.
///
/// An app that sends large calls without a pause then does not keep the processors busy that other users need. Its
/// copies, which may count as different apps, get no more than the app, and another app of the user is not delayed
/// unless it also sends large calls without a pause.
struct LongCallPace {
    private struct Payer: Hashable {
        let user: AccountOwner
        let app: AppAccount.Name
    }

    /// At the default pace, a call of the maximum size is read at once if the user's apps sent no long calls before.
    static let ahead = Duration.milliseconds(500)

    private let bytesPerSecond: Int
    /// For each app, when its bytes would all have been read if they were read evenly, at the app's share of the pace.
    private var dues: [Payer: Uptime] = [:]

    init(bytesPerSecond: Int) { self.bytesPerSecond = bytesPerSecond }

    /// Counts bytes of a long call that were read.
    mutating func count(_ bytes: Int, of app: AppAccount.Name, _ user: AccountOwner, now: Uptime) {
        let payer = Payer(user: user, app: app)
        dues = dues.filter { $0.value > now }
        let due = dues[payer] ?? now
        dues[payer] = due
        let sharing = dues.keys.count { $0.user == user }
        dues[payer] = due + .seconds(bytes * sharing) / bytesPerSecond
    }

    /// Returns for how long the server must not read more of the app's long calls. Not positive if it may do so at once.
    func wait(of app: AppAccount.Name, _ user: AccountOwner, now: Uptime) -> Duration {
        guard let due = dues[Payer(user: user, app: app)] else { return .zero }
        return .nanoseconds(due - now) - Self.ahead
    }
}
