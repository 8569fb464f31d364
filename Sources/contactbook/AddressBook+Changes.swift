import Contacts

extension AddressBook {
    /// The book for one change that `contactbook undo` takes back as a whole.
    ///
    /// - Parameter command: the text that `undo --list` shows.
    func doing(_ command: String) -> AddressBook {
        var book = self
        book.group = CNSaveGroup(label: Self.label(command))
        return book
    }

    /// A text in the length that a label may have.
    static func label(_ command: String) -> String {
        var label = command
        if label.utf8.count > longestLabel {
            while label.utf8.count > longestLabel - 3 { label.removeLast() }
            label += "…"
        }
        return label
    }

    /// The maximum size of a label, in bytes.
    private static let longestLabel = 256

    /// Adds cards to a group, or removes them.
    func put(_ cards: [String], into group: String, adding: Bool = true) throws {
        try save { request in
            for card in cards {
                if adding {
                    request.addMember(withIdentifier: card, toGroupWithIdentifier: group)
                } else {
                    request.removeMember(withIdentifier: card, fromGroupWithIdentifier: group)
                }
            }
        }
    }

    /// Links a card with others.
    func link(_ first: String, with cards: [String]) throws {
        try save { for card in cards { $0.link(contactWithIdentifier: first, withContactWithIdentifier: card) } }
    }
}
