import BrokerJSON

extension StoredContact {
    /// Encodes a contact without its images, which are stored elsewhere; ``Contact/imageDataAvailable`` is included.
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
    /// Decodes a stored contact; returns `nil` if a value does not fit its key, which means that the file is damaged.
    ///
    /// - Parameter keys: the keys to decode; other keys stay empty.
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
