import Contacts
import Foundation

/// Prints the error code of a refused save, the keys, and how many records the error names.
func refusal(_ what: String, _ fill: (CNSaveRequest) throws -> Void) throws {
    let request = CNSaveRequest()
    try fill(request)
    do {
        try store.execute(request)
        print(what, "done")
    } catch let error as CNError {
        let records = (error.userInfo[CNErrorUserInfoAffectedRecordsKey] as? [AnyObject])?.count ?? 0
        print(what, error.code.rawValue, error.keyPaths ?? [], error.affectedRecordIdentifiers?.count ?? 0, records)
    }
}

/// Prints the error code of each save that is refused.
func refusals() throws {
    let ada = try contact("ada").mutableCopy() as? CNMutableContact ?? CNMutableContact()
    let nobody = CNMutableContact()
    let group = CNMutableGroup()
    group.name = "Pioneers"
    let below = CNMutableGroup()
    below.name = "Below"
    let making = CNSaveRequest()
    making.add(group, toContainerWithIdentifier: nil)
    making.add(below, toContainerWithIdentifier: nil)
    making.addSubgroup(below, to: group)
    try store.execute(making)

    try refusal("added again") { $0.add(ada, toContainerWithIdentifier: nil) }
    try refusal("deleted, and not there") { $0.delete(nobody) }
    try refusal("no such group") { $0.addMember(ada, to: CNMutableGroup()) }
    try refusal("no such container") { $0.add(nobody, toContainerWithIdentifier: "elsewhere") }
    try refusal("a circle") { $0.addSubgroup(group, to: below) }
    // A new note reads and overwrites no other note.
    try refusal("a note") { request in
        let new = CNMutableContact()
        new.note = "of my own"
        request.add(new, toContainerWithIdentifier: nil)
    }
    try refusal("no day") { request in
        let new = CNMutableContact()
        new.birthday = DateComponents(calendar: Calendar(identifier: .gregorian), month: 2, day: 30)
        request.add(new, toContainerWithIdentifier: nil)
    }
    // The group is deleted, and its members stay.
    try refusal("a member") { $0.addMember(ada, to: group) }
    try refusal("the group") { $0.delete(group) }
    print(try store.groups(matching: nil).map(\.name), try contact("ada").givenName)
}

/// Makes two changes to one contact, each on an older copy, as two apps would.
func lastWins() throws {
    let keys: [CNKeyDescriptor] = [CNContactJobTitleKey as CNKeyDescriptor, CNContactNicknameKey as CNKeyDescriptor]
    let first = try contact("ada", keys).mutableCopy() as? CNMutableContact ?? CNMutableContact()
    let second = try contact("ada", keys).mutableCopy() as? CNMutableContact ?? CNMutableContact()
    first.jobTitle = "Analyst"
    first.nickname = "Enchantress"
    second.jobTitle = "Countess"
    for changed in [first, second] {
        let request = CNSaveRequest()
        request.update(changed)
        try store.execute(request)
    }
    let now = try contact("ada", keys)
    print(now.jobTitle, now.nickname)
}

/// Saves with the revision of a contact, and again with the same one.
func revisions() throws {
    let request = CNContactFetchRequest(keysToFetch: [
        CNContactGivenNameKey as CNKeyDescriptor, CNContactJobTitleKey as CNKeyDescriptor,
    ])
    request.includesRevisions = true
    request.sortOrder = .givenName
    func first() throws -> CNContact? {
        var found: CNContact?
        try store.enumerateContacts(with: request) { contact, stop in
            found = contact
            stop.pointee = true
        }
        return found
    }
    guard let seen = try first(), let revision = seen.revision else { return print("no revision") }
    for title in ["Analyst", "Countess"] {
        let changed = seen.mutableCopy() as? CNMutableContact ?? CNMutableContact()
        changed.jobTitle = title
        let save = CNSaveRequest()
        save.update(changed, unchangedSince: revision)
        do {
            try store.execute(save)
            print("saved")
        } catch {
            print((error as? CNError)?.brokerError ?? "another error")
        }
    }
    let now = try first()
    print(now?.jobTitle ?? "", now?.revision == revision, try contact("ada", request.keysToFetch).revision == nil)
}

/// Executes saves at the limits and beyond them.
func bounds() throws {
    func adding(_ count: Int, _ change: (CNMutableContact) -> Void = { _ in }) -> CNSaveRequest {
        let request = CNSaveRequest()
        for number in 0..<count {
            let new = CNMutableContact()
            new.givenName = "Number \(number)"
            change(new)
            request.add(new, toContainerWithIdentifier: nil)
        }
        return request
    }
    do { try store.execute(adding(2_001)) } catch { say(error) }
    let picture = Data(count: 7_000_000)
    do { try store.execute(adding(2) { $0.imageData = picture }) } catch { say(error) }
    print(try store.countOfContacts())
    try store.execute(adding(2_000))
    print(try store.countOfContacts())
}

/// Sets, fetches and clears the person's own contact.
func me() throws {
    let request = CNSaveRequest()
    request.setMeContact(try contact("ada"))
    try store.execute(request)
    print(try store.unifiedMeContactWithKeys(toFetch: names).givenName)
    let none = CNSaveRequest()
    none.setMeContact(nil)
    try store.execute(none)
    do { _ = try store.unifiedMeContactWithKeys(toFetch: names) } catch { say(error) }
}
