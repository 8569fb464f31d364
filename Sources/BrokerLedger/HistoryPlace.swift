import BrokerAccessControl
import BrokerBounds
import BrokerContactsStore
import BrokerModel

/// A place in one app's change history, after the last event that the app could see.
package struct HistoryPlace: Hashable {
    /// The epoch is a revision of the grant. Since that revision, only the granted set has changed. The
    /// terms are the grant's keys, and whether its scope is all contacts. A place with a different epoch
    /// or different terms belongs to a different history.
    package var epoch: Int64
    package var terms: UInt64
    /// The number of the last change to the book that the app could see.
    package var change: Int64
    /// The revision of the last change to the granted set.
    package var set: Int64

    /// The place before all events. A caller with this place gets everything.
    package static let beginning = HistoryPlace(epoch: 0, terms: 0, change: 0, set: 0)

    package static func terms(_ disclosure: Disclosure) -> UInt64 {
        switch disclosure.scope {
        case .all: disclosure.keys.rawValue | 1 << 63
        case .only: disclosure.keys.rawValue
        }
    }
}

/// The contents of a history token: a place and the time of issue. An app gets only the encrypted token.
package struct HistoryToken: Hashable {
    package let place: HistoryPlace
    /// When the token was issued, in seconds since 1970, rounded down to a multiple of ``window``. With exact
    /// times, every token would differ.
    package let time: Int64

    /// Ten days in seconds. Because of the rounding, a token may become invalid up to this long before the
    /// changes after it are discarded.
    package static let window: Int64 = 10 * 86_400

    package init(_ place: HistoryPlace, at seconds: Int64) {
        time = Self.window(of: seconds)
        var place = place
        place.change = max(place.change, Self.floor(at: time))
        self.place = place
    }

    /// The lowest change number that a token issued at this time may name. The book discards old changes,
    /// perhaps including the last one that an app saw. The app's token must not change when that happens. A
    /// token therefore names no change that may be discarded within the token's window.
    package static func floor(at time: Int64) -> Int64 {
        let (oldest, overflow) = time.subtractingReportingOverflow(StoreLimits.history - window)
        return overflow ? 0 : max(0, BookChange.lowestNumber(at: oldest) - 1)
    }

    package static func window(of seconds: Int64) -> Int64 { seconds - ((seconds % window) + window) % window }

    /// Five numbers of 8 bytes each, big-endian.
    package var bytes: [UInt8] {
        let numbers = [
            UInt64(bitPattern: place.epoch), place.terms, UInt64(bitPattern: place.change),
            UInt64(bitPattern: place.set),
            UInt64(bitPattern: time),
        ]
        return numbers.flatMap { number in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
        }
    }

    package init?(bytes: [UInt8]) {
        guard bytes.count == 40 else { return nil }
        let numbers = stride(from: 0, to: 40, by: 8).map { start in
            bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        place = HistoryPlace(
            epoch: Int64(bitPattern: numbers[0]), terms: numbers[1], change: Int64(bitPattern: numbers[2]),
            set: Int64(bitPattern: numbers[3]))
        time = Int64(bitPattern: numbers[4])
    }
}
