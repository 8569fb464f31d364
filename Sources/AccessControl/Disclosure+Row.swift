import ContactsModel
import JSON

extension Disclosure {
    /// One line that tells two contacts of the same name apart: an e-mail address, else a phone number, of those
    /// that this disclosure may tell.
    public func detail(of contact: StoredContact) -> String? {
        for key in [ContactKey.emailAddresses, .phoneNumbers] where keys.contains(key) {
            guard let text = contact.value(of: key), let values = try? JSONDocument(parsing: Array(text)).root,
                var elements = values.elements, let value = elements.next()?["value"]?.string
            else { continue }
            return value
        }
        return nil
    }
}
