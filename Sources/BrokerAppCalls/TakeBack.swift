import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// `TakeBack`: a save whose steps undo what a group of the app's saves did. It is decided like any other save.
extension Save {
    /// Looks up the changes that take the group back.
    ///
    /// - Returns: what to wait for, or `.done` if the call is answered; `nil` to go on with the save.
    mutating func lookUp(
        _ context: ReadContext, _ services: BrokerServices
    ) throws(ReadContext.Failure) -> Step<Self>? {
        guard let takesBack, inverse == nil else { return nil }
        guard let book = context.book else { throw .call(ContactsError.saveDoesNotExist) }
        guard let found else {
            let seen = context.changeScope
            let limit = takesBack.dryRun ? Int.max : ParameterLimits.changes
            return .wait(
                for: .job(on: services.books.queue(of: session.caller.uid)) { () throws(StoreError) in
                    try book.inverse(of: takesBack.group, seen: seen, isForced: takesBack.force, limit: limit)
                } keep: { call, found in
                    call.found = found
                })
        }
        self.found = nil
        guard var inverse = try context.orFail({ _ throws(StoreError) in try found.get() }) else {
            throw .call(ContactsError.saveDoesNotExist)
        }
        inverse.keepOut(barred(inverse, context, services))
        // That everything has expired, or is hidden, looks as if there had been no such group.
        if inverse.isPartial, inverse.changes.isEmpty, !inverse.hasConflicts {
            throw .call(ContactsError.saveDoesNotExist)
        }
        self.inverse = inverse
        guard takesBack.dryRun else { return nil }
        replyTakenBack(context.identifiers, services) { $0() }
        return .done
    }

    /// The contacts that must not come back for the app, because it would not see them: its access was lowered since it
    /// deleted them.
    func barred(_ inverse: InverseSave, _ context: ReadContext, _ services: BrokerServices) -> Set<RecordNumber> {
        guard context.disclosure.scope != .all else { return [] }
        let returned = inverse.changes.returnedContacts
        return returned.subtracting(services.access.mayRejoin(returned, context.principal))
    }

    /// Says what was taken back, or would be.
    ///
    /// - Parameter answer: runs its argument once a crash cannot undo the save.
    func replyTakenBack(
        _ identifiers: IdentifierCipher, _ services: BrokerServices, _ answer: (@escaping () -> Void) -> Void
    ) {
        guard let inverse else { return }
        var counts: [String: Int] = [:]
        for change in inverse.changes { counts[change.effect, default: 0] += 1 }
        var writer = JSONWriter(reservingCapacity: 256)
        writer.object { writer in
            for name in ["returned", "changed", "removed", "groups", "others"] {
                writer.member(name, counts[name] ?? 0)
            }
            for (name, records, kind) in [
                ("conflicts", inverse.conflicts, RecordKind.contact),
                ("groupConflicts", inverse.groupConflicts, .group),
            ] {
                let named = records.prefix(ParameterLimits.saveGroups)
                writer.member(name, named.map { identifiers.identifier(of: $0, as: kind) })
            }
            writer.member("partial", inverse.isPartial)
            writer.member("more", inverse.hasMore)
        }
        answer { [call, bytes = writer.bytes] in call.reply(bytes) }
    }
}

extension ContactChange {
    /// The member of the reply of `TakeBack` that counts the change.
    fileprivate var effect: String {
        switch self {
        case .putBack(let former):
            switch former.kind {
            case .contact: "returned"
            case .group: "groups"
            case .container, .relations, .links: "others"
            }
        case .update: "changed"
        case .delete: "removed"
        case .group(.rename), .group(.delete): "groups"
        case .add, .group, .link, .container, .thumbnail: "others"
        }
    }
}

/// `ListSaves`: the app's saves that it may take back.
struct ListSaves: PermittedCall {
    let call: Call
    let session: CallerSession
    var asked = Asked.notYet
    private var found: Result<(groups: [ListedSaveGroup], days: Int64), StoreError>?

    init(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(call.firstParameter) }
        (self.call, self.session) = (call, session)
    }

    mutating func answer(_ context: ReadContext, _ services: BrokerServices) throws(ReadContext.Failure) -> Step<Self> {
        guard let book = context.book else {
            reply([], days: services.limits.space.binTime / 86_400)
            return .done
        }
        guard let found else {
            return .wait(
                for: .job(on: services.books.queue(of: session.caller.uid)) {
                    [mark = context.identifiers.mark, seconds = services.surroundings.seconds] () throws(StoreError) in
                    (
                        try book.saveGroups(of: mark, limit: ParameterLimits.saveGroups),
                        try book.bin(at: seconds).days.days
                    )
                } keep: { call, found in
                    call.found = found
                })
        }
        let (groups, days) = try context.orFail { _ throws(StoreError) in try found.get() }
        reply(groups, days: days)
        return .done
    }

    private func reply(_ groups: [ListedSaveGroup], days: Int64) {
        var writer = JSONWriter(reservingCapacity: 64 + groups.count * 192)
        writer.object { writer in
            writer.name("saves")
            writer.array(groups) { writer, listed in
                writer.object { writer in
                    writer.member("group", listed.group.token)
                    writer.member("label", listed.group.label)
                    writer.member("time", Timestamp.text(seconds: listed.time))
                    writer.member("added", listed.added)
                    writer.member("changed", listed.changed)
                    writer.member("deleted", listed.deleted)
                    writer.member("takesBack", listed.group.takesBack)
                    writer.member("takenBack", listed.isTakenBack)
                }
            }
            writer.member("days", days)
        }
        call.reply(writer.bytes)
    }
}
