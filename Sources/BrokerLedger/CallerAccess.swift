import BrokerAccessControl
import BrokerDisclosure

/// The effective access of a caller, and the facts from which it is derived.
package struct CallerAccess {
    /// The effective access: the grant with the policy applied.
    package var effective: EffectiveAccess
    /// The policy's ruling on the caller.
    package var ruling: Ruling
    /// Whether the policy permits prompts for the caller.
    package var mayPrompt: Bool
    /// The principal that has the grant, or for which a policy rule forces a level without a grant; `nil`
    /// if there is neither.
    package var principal: Principal?
    /// `nil` if the app has no key yet; ``Grants/readContext(_:_:of:_:under:)`` creates the key of an app that needs one.
    package var identifiers: IdentifierCipher?
    /// Whether a grant has ended that is still stored, because the timer for its end is late.
    package var hasLateEnd = false
    /// Whether the effective access is derived from a grant, and not from the policy alone.
    package var isDecided = false
    /// When the grant ends unless it is used, in seconds since 1970; `nil` for never.
    package var unusedEnd: Int64?

    package init(effective: EffectiveAccess, ruling: Ruling, mayPrompt: Bool) {
        self.effective = effective
        self.ruling = ruling
        self.mayPrompt = mayPrompt
    }
}
