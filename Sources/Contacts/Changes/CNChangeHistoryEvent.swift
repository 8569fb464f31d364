import Foundation

/// A change in the address book. ``accept(_:)`` passes it to a ``CNChangeHistoryEventVisitor``.
public class CNChangeHistoryEvent: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Proof that the class is Sendable: this class and its subclasses have no mutable property. All
    // subclasses are final and in this file. The compiler cannot check this, because the class is not final.

    override init() {}

    /// Calls the visitor’s method for this event.
    public func accept(_ visitor: any CNChangeHistoryEventVisitor) {}

    /// Returns this object, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`, as in Apple's classes, although an event cannot be archived.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes nothing: events cannot be archived, but history tokens can.
    public func encode(with coder: NSCoder) {}
}

extension NSCoding where Self: CNChangeHistoryEvent {
    /// Returns `nil`, because events cannot be archived.
    public init?(coder: NSCoder) { nil }
}

/// Tells the app to discard everything that it fetched before. Add events for all records follow.
public final class CNChangeHistoryDropEverythingEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A contact was added, or the app got access to it.
public final class CNChangeHistoryAddContactEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact, with the requested keys.
    public let contact: CNContact
    /// The identifier of the contact’s container; `nil` if ``isGranted``.
    public let containerIdentifier: String?
    /// `true` if the contact already existed and the app got access to it; `false` if it was added. An
    /// extension of this library.
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
    /// The contact in its current state, with the requested keys.
    public let contact: CNContact

    init(contact: CNContact) {
        self.contact = contact
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A contact was deleted, or the app lost access to it.
public final class CNChangeHistoryDeleteContactEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact’s identifier.
    public let contactIdentifier: String
    /// `true` if the app lost access to the contact; `false` if the contact was deleted. An extension of this
    /// library.
    public let isRevoked: Bool

    init(contactIdentifier: String, isRevoked: Bool) {
        self.contactIdentifier = contactIdentifier
        self.isRevoked = isRevoked
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A group was added.
public final class CNChangeHistoryAddGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The group.
    public let group: CNGroup
    /// The identifier of the group’s container.
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
    /// The group in its current state.
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

/// A contact was added to a group.
public final class CNChangeHistoryAddMemberToGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact, with its identifier only.
    public let member: CNContact
    /// The group, with its identifier only.
    public let group: CNGroup

    init(member: CNContact, group: CNGroup) {
        self.member = member
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A contact was removed from a group.
public final class CNChangeHistoryRemoveMemberFromGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The contact, with its identifier only.
    public let member: CNContact
    /// The group, with its identifier only.
    public let group: CNGroup

    init(member: CNContact, group: CNGroup) {
        self.member = member
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A group was added to another group.
public final class CNChangeHistoryAddSubgroupToGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The subgroup, with its identifier only.
    public let subgroup: CNGroup
    /// The parent group, with its identifier only.
    public let group: CNGroup

    init(subgroup: CNGroup, group: CNGroup) {
        self.subgroup = subgroup
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// A group was removed from another group.
public final class CNChangeHistoryRemoveSubgroupFromGroupEvent: CNChangeHistoryEvent, @unchecked Sendable {
    /// The former subgroup, with its identifier only.
    public let subgroup: CNGroup
    /// The former parent group, with its identifier only.
    public let group: CNGroup

    init(subgroup: CNGroup, group: CNGroup) {
        self.subgroup = subgroup
        self.group = group
        super.init()
    }

    /// Calls the visitor’s method for this kind of event.
    public override func accept(_ visitor: any CNChangeHistoryEventVisitor) { visitor.visit(self) }
}

/// Receives events, with one method for each kind.
public protocol CNChangeHistoryEventVisitor: AnyObject {
    /// Tells the app to discard everything that it fetched before. Add events for all records follow.
    func visit(_ event: CNChangeHistoryDropEverythingEvent)
    /// A contact was added, or the app got access to it.
    func visit(_ event: CNChangeHistoryAddContactEvent)
    /// A contact was changed.
    func visit(_ event: CNChangeHistoryUpdateContactEvent)
    /// A contact was deleted, or the app lost access to it.
    func visit(_ event: CNChangeHistoryDeleteContactEvent)
    /// A group was added.
    func visit(_ event: CNChangeHistoryAddGroupEvent)
    /// A group was renamed.
    func visit(_ event: CNChangeHistoryUpdateGroupEvent)
    /// A group was deleted.
    func visit(_ event: CNChangeHistoryDeleteGroupEvent)
    /// A contact was added to a group.
    func visit(_ event: CNChangeHistoryAddMemberToGroupEvent)
    /// A contact was removed from a group.
    func visit(_ event: CNChangeHistoryRemoveMemberFromGroupEvent)
    /// A group was added to another group.
    func visit(_ event: CNChangeHistoryAddSubgroupToGroupEvent)
    /// A group was removed from another group.
    func visit(_ event: CNChangeHistoryRemoveSubgroupFromGroupEvent)
}

// Most visitors do not need the group events.
extension CNChangeHistoryEventVisitor {
    /// Does nothing.
    public func visit(_ event: CNChangeHistoryAddGroupEvent) {}
    /// Does nothing.
    public func visit(_ event: CNChangeHistoryUpdateGroupEvent) {}
    /// Does nothing.
    public func visit(_ event: CNChangeHistoryDeleteGroupEvent) {}
    /// Does nothing.
    public func visit(_ event: CNChangeHistoryAddMemberToGroupEvent) {}
    /// Does nothing.
    public func visit(_ event: CNChangeHistoryRemoveMemberFromGroupEvent) {}
    /// Does nothing.
    public func visit(_ event: CNChangeHistoryAddSubgroupToGroupEvent) {}
    /// Does nothing.
    public func visit(_ event: CNChangeHistoryRemoveSubgroupFromGroupEvent) {}
}
