import BrokerJSON

extension StoredContact {
    /// Writes a contact down. Images are kept elsewhere and left out; ``Contact/imageDataAvailable`` is not.
    public init(_ contact: Contact) {
        var values: [(key: ContactKey, json: [UInt8])] = []
        for key in ContactKey.allCases where !ContactKeySet.images.contains(key) && contact.hasValue(key) {
            var writer = JSONWriter(reservingCapacity: 64)
            contact.writeValue(of: key, to: &writer)
            values.append((key, writer.bytes))
        }
        self.init(values: values)
    }
}

extension Contact {
    /// Takes a stored contact apart; `nil` where its values are not what their keys hold: the file is damaged.
    ///
    /// - Parameter keys: the others are left empty, and unread.
    public init?(_ stored: StoredContact, keys: ContactKeySet = .all) {
        self.init()
        for key in stored.present.intersection(keys).keys {
            guard let text = stored.value(of: key), let document = try? JSONDocument(parsing: Array(text)) else {
                return nil
            }
            do throws(ContactError) {
                try WireContact.read(document.root, of: key, into: &self)
            } catch {
                return nil
            }
        }
    }
}
