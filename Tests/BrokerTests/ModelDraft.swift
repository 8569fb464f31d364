import BrokerModel

/// A save under construction: its steps, and their effects on the model.
struct ModelDraft {
    /// Why a save is refused.
    struct Refusal {
        /// The smallest right to change that would be enough; `nil` if the app has it, or none would.
        let right: ChangeRight?
        let error: String
    }

    var book: ModelBook
    var events: [ModelEvent] = []
    var texts: [String] = []
    var description: [String] = []
    /// The contacts and groups that are added, by step.
    var contacts: [Int: Int] = [:]
    var groups: [Int: Int] = [:]
    /// The contacts that are changed and deleted.
    var changes: Set<Int> = []
    var deletions: Set<Int> = []
    /// Contacts and groups that an earlier step names. Later steps leave them alone.
    var used: Set<Int> = []
    var usedGroups: Set<Int> = []
    /// The containers that the app may name, in the order of their creation. The default one comes first.
    var containers: [String] = []

    // At most one step, the last one, has any of these.
    /// The expected answer if the save is refused whatever the person says.
    var error: String?
    /// What only the right to change refuses.
    var refusal: Refusal?
    /// The expected answer because of what is found out only when the save is made: a contact has changed since the revision
    /// that the step names, or a group would contain itself.
    var late: String?
    /// What the right to change refuses because the step empties a contact. Without all keys no right is enough.
    var emptying: Refusal?

    init(book: ModelBook) { self.book = book }

    var isOver: Bool { error != nil || refusal != nil || late != nil || emptying != nil }

    /// The expected answer if the person is not asked; `nil` if the save is made.
    var answer: String? { error ?? refusal?.error ?? late ?? emptying?.error }

    /// The last step needs a greater right.
    mutating func refuse(_ right: ChangeRight?, _ identifier: String? = nil) {
        refusal = Refusal(right: right, error: notWritable(identifier))
    }

    mutating func mayNotAdd() {
        refusal = Refusal(right: .own, error: #"ParentContainerNotWritable{"index":\#(texts.count - 1)}"#)
    }

    func notWritable(_ identifier: String? = nil) -> String {
        let named = identifier.map { #","identifier":"\#($0)""# } ?? ""
        return #"RecordNotWritable{"index":\#(texts.count - 1)\#(named)}"#
    }
}
