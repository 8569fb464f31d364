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
            let returning = context.disclosure.scope == .all ? [] : services.access.mayRejoin(context.principal)
            let view = InverseView(context.changeScope, returning: returning, isForced: takesBack.force)
            let limit = takesBack.dryRun ? nil : ParameterLimits.changes
            return .wait(
                for: .read(book) { (book) throws(StoreError) in
                    try book.inverse(of: takesBack.group, view, limit: limit)
                } keep: { call, found in
                    call.found = .some(found)
                })
        }
        self.found = nil
        // That everything has expired, or is hidden, looks as if there had been no such group.
        guard let inverse = found, !inverse.isNothing else { throw .call(ContactsError.saveDoesNotExist) }
        self.inverse = inverse
        guard takesBack.dryRun else { return nil }
        replyTakenBack(context.identifiers, services) { $0() }
        return .done
    }

    /// Whether the app would see contacts that come back. If its access was lowered since it deleted them, it would not.
    func mayReturn(_ records: Set<RecordNumber>, _ context: ReadContext, _ services: BrokerServices) -> Bool {
        records.isEmpty || context.disclosure.scope == .all
            || services.access.mayRejoin(context.principal).isSuperset(of: records)
    }

    /// Says what was taken back, or would be.
    ///
    /// - Parameter answer: runs its argument once a crash cannot undo the save.
    func replyTakenBack(
        _ identifiers: IdentifierCipher, _ services: BrokerServices, _ answer: (@escaping () -> Void) -> Void
    ) {
        guard let inverse else { return }
        let counts = inverse.counts
        var writer = JSONWriter(reservingCapacity: 256)
        writer.object { writer in
            writer.member("returned", counts.returned)
            writer.member("changed", counts.changed)
            writer.member("removed", counts.removed)
            writer.member("groups", counts.groups)
            writer.member("others", counts.others)
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

/// `ListSaves`: the app's saves that it may take back.
struct ListSaves: PermittedCall {
    let call: Call
    let session: CallerSession
    var asked = Asked.notYet
    private var found: (groups: [ListedSaveGroup], days: Int64)?

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
            let (mark, seconds) = (context.identifiers.mark, services.surroundings.seconds)
            return .wait(
                for: .read(book) { (book) throws(StoreError) in
                    let groups = try book.saveGroups(of: mark, limit: ParameterLimits.saveGroups)
                    return (groups: groups, days: try book.bin(at: seconds).days.days)
                } keep: { call, found in
                    call.found = found
                })
        }
        reply(found.groups, days: found.days)
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
