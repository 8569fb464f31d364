import BrokerAccessControl
import BrokerJSON
@_spi(StoredBytes) import BrokerModel

extension Disclosure {
    /// Returns a contact as a row of the agent's list, with these keys. Each text is cut to `textLimit`
    /// characters, so that a name of a megabyte cannot make the list too long to send.
    ///
    /// - Parameter detail: the value to show beside the name; `nil` for the usual one.
    public func row(
        of contact: StoredContact, keys requested: ContactKeySet, identifier: String, detail place: ValuePlace? = nil,
        textLimit: Int
    ) -> DisclosedRow {
        let permitted = requested.intersection(keys)
        var writer = JSONWriter(reservingCapacity: 512)
        writer.object {
            $0.member("identifier", identifier)
            for key in requested.keys {
                $0.name(key.rawValue)
                let value = permitted.contains(key) ? contact.value(of: key) : nil
                $0.raw(value.map { Self.cut($0, textLimit) } ?? Array(key.emptyValue.utf8))
            }
        }
        return DisclosedRow(contact: writer.bytes, detail: detail(of: contact, place, textLimit))
    }

    private static func cut(_ json: ArraySlice<UInt8>, _ limit: Int) -> [UInt8] {
        // A text never has more characters than bytes.
        guard json.count > limit, let text = try? JSONDocument(parsing: Array(json)).root.string else {
            return Array(json)
        }
        var writer = JSONWriter()
        writer.value(String(text.prefix(limit)))
        return writer.bytes
    }

    /// Returns a line that distinguishes contacts of the same name: the first e-mail address or, if there is
    /// none, the first phone number. If `place` is given, returns that value instead. This disclosure must permit the
    /// key.
    private func detail(of contact: StoredContact, _ place: ValuePlace?, _ textLimit: Int) -> String? {
        let usual = [ValuePlace(key: .emailAddresses), ValuePlace(key: .phoneNumbers)]
        for place in [place].compactMap(\.self) + usual where keys.contains(place.key) {
            guard let text = contact.value(of: place.key), let value = try? JSONDocument(parsing: Array(text)).root,
                let shown = value.string
                    ?? value.elements?.dropFirst(place.index).first(where: { _ in true })?["value"]?.string
            else { continue }
            return String(shown.prefix(textLimit))
        }
        return nil
    }
}

/// One row of the agent's list. Only ``Disclosure/row(of:keys:identifier:detail:textLimit:)`` creates values of this
/// type.
public struct DisclosedRow: Hashable, Sendable {
    /// The contact in JSON, as a `Row` of the agent's interface contains it.
    @_spi(Disclosed) public let contact: [UInt8]
    /// A text that distinguishes contacts of the same name.
    @_spi(Disclosed) public let detail: String?
}
