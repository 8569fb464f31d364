import Foundation

/// Something that happened in the address book. What it was is told to a ``CNChangeHistoryEventVisitor``.
public class CNChangeHistoryEvent: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Proof of the Sendable above: neither this class nor one below it, all of which are final and in this file, has a property
    // that changes. It is not checked because the class is not final.

    override init() {}

    /// Calls the visitor’s method for this event.
    public func accept(_ visitor: any CNChangeHistoryEventVisitor) {}

    /// Returns this object: an event never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`, as Apple’s classes say; of an event nothing is archived.
    public static var supportsSecureCoding: Bool { true }

    /// Events are not archived: the token of the place in the history is.
    public func encode(with coder: NSCoder) {}
}

extension NSCoding where Self: CNChangeHistoryEvent {
    /// Always `nil`: events are not archived.
    public init?(coder: NSCoder) { nil }
}

/// Everything that was fetched before is to be forgotten: adds follow for all that is there.
public final class CNChangeHistoryDropEverythingEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A contact came: it was made, or the app may see it from now on.
public final class CNChangeHistoryAddContactEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact, with the keys that were asked for.
    public let contact: CNContact
    /// The container that it is in.
    public let containerIdentifier: String?
    /// Whether the contact was there before, and the person now lets the app see it. An extension of this library.
    public let isGranted: Bool

    init(contact: CNContact, containerIdentifier: String?, isGranted: Bool) {
        self.contact = contact
        self.containerIdentifier = containerIdentifier
        self.isGranted = isGranted
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A contact was changed.
public final class CNChangeHistoryUpdateContactEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact as it is now, with the keys that were asked for.
    public let contact: CNContact

    init(contact: CNContact) {
        self.contact = contact
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A contact is gone: it was deleted, or the app may not see it any more.
public final class CNChangeHistoryDeleteContactEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact’s identifier.
    public let contactIdentifier: String
    /// Whether the contact is still there, and the person does not let the app see it any more. An extension of this library:
    /// what was revoked must not be taken for deleted.
    public let isRevoked: Bool

    init(contactIdentifier: String, isRevoked: Bool) {
        self.contactIdentifier = contactIdentifier
        self.isRevoked = isRevoked
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A group was made.
public final class CNChangeHistoryAddGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The group.
    public let group: CNGroup
    /// The container that it is in.
    public let containerIdentifier: String

    init(group: CNGroup, containerIdentifier: String) {
        self.group = group
        self.containerIdentifier = containerIdentifier
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A group was renamed.
public final class CNChangeHistoryUpdateGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The group as it is now.
    public let group: CNGroup

    init(group: CNGroup) {
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A group was deleted.
public final class CNChangeHistoryDeleteGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The group’s identifier.
    public let groupIdentifier: String

    init(groupIdentifier: String) {
        self.groupIdentifier = groupIdentifier
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A contact joined a group.
public final class CNChangeHistoryAddMemberToGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact; only its identifier is there.
    public let member: CNContact
    /// The group.
    public let group: CNGroup

    init(member: CNContact, group: CNGroup) {
        self.member = member
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A contact left a group.
public final class CNChangeHistoryRemoveMemberFromGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact; only its identifier is there.
    public let member: CNContact
    /// The group.
    public let group: CNGroup

    init(member: CNContact, group: CNGroup) {
        self.member = member
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A group joined another one.
public final class CNChangeHistoryAddSubgroupToGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The group that joined.
    public let subgroup: CNGroup
    /// The group that it joined.
    public let group: CNGroup

    init(subgroup: CNGroup, group: CNGroup) {
        self.subgroup = subgroup
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A group left another one.
public final class CNChangeHistoryRemoveSubgroupFromGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The group that left.
    public let subgroup: CNGroup
    /// The group that it left.
    public let group: CNGroup

    init(subgroup: CNGroup, group: CNGroup) {
        self.subgroup = subgroup
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// Is told what happened, one method for each kind of event.
public protocol CNChangeHistoryEventVisitor: AnyObject {
    /// Everything that was fetched before is to be forgotten: adds follow for all that is there.
    func visit(_ event: CNChangeHistoryDropEverythingEvent)
    /// A contact came: it was made, or the app may see it from now on.
    func visit(_ event: CNChangeHistoryAddContactEvent)
    /// A contact was changed.
    func visit(_ event: CNChangeHistoryUpdateContactEvent)
    /// A contact is gone: it was deleted, or the app may not see it any more.
    func visit(_ event: CNChangeHistoryDeleteContactEvent)
    /// A group was made.
    func visit(_ event: CNChangeHistoryAddGroupEvent)
    /// A group was renamed.
    func visit(_ event: CNChangeHistoryUpdateGroupEvent)
    /// A group was deleted.
    func visit(_ event: CNChangeHistoryDeleteGroupEvent)
    /// A contact joined a group.
    func visit(_ event: CNChangeHistoryAddMemberToGroupEvent)
    /// A contact left a group.
    func visit(_ event: CNChangeHistoryRemoveMemberFromGroupEvent)
    /// A group joined another one.
    func visit(_ event: CNChangeHistoryAddSubgroupToGroupEvent)
    /// A group left another one.
    func visit(_ event: CNChangeHistoryRemoveSubgroupFromGroupEvent)
}

// What happens to groups is of interest to few.
extension CNChangeHistoryEventVisitor {
    /// Does nothing, where a visitor has no use for it.
    public func visit(_ event: CNChangeHistoryAddGroupEvent) {}
    /// Does nothing, where a visitor has no use for it.
    public func visit(_ event: CNChangeHistoryUpdateGroupEvent) {}
    /// Does nothing, where a visitor has no use for it.
    public func visit(_ event: CNChangeHistoryDeleteGroupEvent) {}
    /// Does nothing, where a visitor has no use for it.
    public func visit(_ event: CNChangeHistoryAddMemberToGroupEvent) {}
    /// Does nothing, where a visitor has no use for it.
    public func visit(_ event: CNChangeHistoryRemoveMemberFromGroupEvent) {}
    /// Does nothing, where a visitor has no use for it.
    public func visit(_ event: CNChangeHistoryAddSubgroupToGroupEvent) {}
    /// Does nothing, where a visitor has no use for it.
    public func visit(_ event: CNChangeHistoryRemoveSubgroupFromGroupEvent) {}
}
