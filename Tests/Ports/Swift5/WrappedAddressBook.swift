import ContactsWrapper
import Foundation

/// Uses a package that wraps the store.
func wrapped() throws {
    let book = AddressBook()
    let done = DispatchSemaphore(value: 0)
    var isAllowed = false
    book.requestAccess { result in
        if case .success = result { isAllowed = true }
        done.signal()
    }
    done.wait()
    guard isAllowed else { return print("denied") }
    try book.add(given: "Maryam", family: "Mirzakhani", born: DateComponents(year: 1977, month: 5, day: 12))
    let card = String(decoding: try book.vCard(of: "Mirzakhani"), as: UTF8.self)
    print(card.contains("FN:Maryam Mirzakhani"), card.contains("1977-05-12"))
    print(try book.contacts().map(\.displayName).joined(separator: ", "))
    do { _ = try book.vCard(of: "Nobody") } catch AddressBook.Failure.notFound { print("not found") }
}
