import Contacts
import Foundation

var names: [any CNKeyDescriptor] { [CNContactGivenNameKey, CNContactFamilyNameKey] }

/// Prints without a buffer, because the test waits for the line.
func tell(_ words: Any...) {
    print(words.map { "\($0)" }.joined(separator: " "))
    fflush(nil)
}

/// Prints the number of contacts at each notification of a change.
func watch() throws {
    let told = DispatchSemaphore(value: 0)
    let observer = NotificationCenter.default.addObserver(forName: .CNContactStoreDidChange, object: nil, queue: nil) {
        _ in
        told.signal()
    }
    let store = CNContactStore()
    tell(try store.countOfContacts())
    // The store may not watch yet. When it begins, it reports the changes since this token.
    _ = store.currentHistoryToken
    tell("watching")
    while told.wait(timeout: .now() + 60) == .success { tell("told", try store.countOfContacts()) }
    NotificationCenter.default.removeObserver(observer)
}

/// Uses two stores in two threads at once, then counts the notifications for a burst of changes.
func threads() throws {
    let told = Counter()
    let observer = NotificationCenter.default.addObserver(forName: .CNContactStoreDidChange, object: nil, queue: nil) {
        _ in
        // Makes a call within the notification, during which the library must hold no lock.
        _ = try? CNContactStore().countOfContacts()
        told.add()
    }
    let stores = [CNContactStore(), CNContactStore()]
    _ = try stores[0].countOfContacts()
    _ = stores[0].currentHistoryToken
    let failures = Counter()
    DispatchQueue.concurrentPerform(iterations: 2) { place in
        for number in 0..<20 {
            do {
                let new = CNMutableContact()
                new.givenName = "Thread\(place)"
                new.familyName = "Number\(number)"
                let request = CNSaveRequest()
                request.add(new, toContainerWithIdentifier: nil)
                try stores[place].execute(request)
                let found = try stores[1 - place].unifiedContact(withIdentifier: new.identifier, keysToFetch: names)
                if found.familyName != new.familyName { failures.add() }
            } catch {
                failures.add()
            }
        }
    }
    print("failures", failures.count, "contacts", try stores[1].countOfContacts())
    let before = told.waitUntilQuiet(atLeast: 1)
    let request = CNSaveRequest()
    for number in 0..<50 {
        let new = CNMutableContact()
        new.givenName = "Burst\(number)"
        request.add(new, toContainerWithIdentifier: nil)
    }
    try stores[0].execute(request)
    print("told of a burst", told.waitUntilQuiet(atLeast: before + 1) - before)
    NotificationCenter.default.removeObserver(observer)
}

/// A counter for several threads.
final class Counter: @unchecked Sendable {
    // Proof: the number is accessed only under the lock.
    private let lock = NSCondition()
    private var number = 0

    var count: Int { lock.withLock { number } }

    func add() {
        lock.withLock {
            number += 1
            lock.broadcast()
        }
    }

    /// Returns the number once it is at least this high and has not risen for half a second. Until it is this high,
    /// waits at most 10 seconds for each increase.
    func waitUntilQuiet(atLeast least: Int) -> Int {
        lock.lock()
        defer { lock.unlock() }
        while lock.wait(until: Date(timeIntervalSinceNow: number < least ? 10 : 0.5)) {}
        return number
    }
}
