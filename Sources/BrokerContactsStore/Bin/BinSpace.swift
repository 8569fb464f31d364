import BrokerBounds

/// How much of the bin's space a save may use. ``BookWriter`` owns it.
///
/// An app without full access must not learn from a refusal how large the hidden parts of others' contacts are. For such
/// an app, as for the whole book (``BookSpace``), a portion is full at a random point in its last sixteenth, and after a
/// refusal nothing that would need space is made for ``SpaceBounds/pause``.
struct BinSpace {
    private let bounds: SpaceBounds
    private var reserves: [BinPortion: Int64] = [:]
    /// When an app without full access was last refused, in seconds since 1970.
    private var refusedAt: [BinPortion: Int64] = [:]

    init(_ bounds: SpaceBounds) {
        self.bounds = bounds
        for portion in BinPortion.allCases { drawReserve(portion) }
    }

    private mutating func drawReserve(_ portion: BinPortion) {
        reserves[portion] = .random(in: 0...max(0, size(of: portion) / 16))
    }

    private func size(of portion: BinPortion) -> Int64 {
        switch portion {
        case .assumableApps: bounds.binOfAssumableApps
        case .otherApps: bounds.binOfOtherApps
        case .person: bounds.binOfPerson
        }
    }

    /// Returns the bytes to which a portion is emptied.
    ///
    /// - Parameter keepsOthers: whether the save took a state into the bin that may not be pushed out.
    /// - Throws: ``ChangeError/binFull(most:)`` during the pause.
    func most(
        _ portion: BinPortion, isLimited: Bool, keepsOthers: Bool, at seconds: Int64
    ) throws(ChangeError) -> Int64 {
        let size = size(of: portion)
        guard isLimited else { return size }
        let isPaused = refusedAt[portion].map { (0..<bounds.pause).contains(seconds - $0) } ?? false
        if isPaused, keepsOthers { throw ChangeError.binFull(most: size) }
        return max(0, size - reserves[portion, default: 0])
    }

    /// Returns the error of a save that does not fit.
    mutating func refuse(_ portion: BinPortion, isLimited: Bool, at seconds: Int64) -> ChangeError {
        if isLimited {
            refusedAt[portion] = seconds
            drawReserve(portion)
        }
        return .binFull(most: size(of: portion))
    }
}
