import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerLedger
import BrokerModel

extension Grants {
    /// What an app may see, as every list, screen and explanation shows it: its grant with the policy applied, until the
    /// first of the grant's own end, the policy's, and the end of a grant that is not used.
    ///
    /// - Parameters:
    ///   - grant: the stored grant, if there is one.
    ///   - policy: `nil` for the policy in force.
    package func shownAccess(
        of grant: Grant?, _ principal: Principal, under policy: PolicyInForce? = nil
    ) -> (access: EffectiveAccess, ruling: Ruling) {
        let policy = policy ?? self.policy
        let ruling = ruling(on: principal, under: policy)
        let now = surroundings.seconds
        let latest = grant.flatMap { unusedEnd(of: $0, principal, ruling) }
        // The broker removes a grant that was not used for too long.
        let left = latest.map { $0 > now } ?? true ? grant : nil
        let access = policy.effectiveAccess(of: left, ruling, at: now)
        guard case .granted(var shown) = access, left != nil, let latest else { return (access, ruling) }
        if case .untilTime(let end) = shown.lifetime, end <= latest { return (access, ruling) }
        shown.lifetime = .untilTime(latest)
        return (.granted(shown), ruling)
    }

    /// Opens the address books that have the contact groups which the policy shares with these apps. The members of a
    /// group of a book that cannot be opened are not known, so such a group shares nothing.
    package func openPolicyGroups(of principals: [Principal], then body: @escaping () -> Void) {
        open(Set(principals.filter { !ruling(on: $0).contactGroups.isEmpty }.map(\.uid)).sorted()[...], body)
    }

    private func open(_ users: ArraySlice<UInt32>, _ body: @escaping () -> Void) {
        guard let uid = users.first else { return body() }
        books.with(uid) { [self] _ in open(users.dropFirst(), body) }
    }
}
