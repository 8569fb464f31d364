/// Where the texts of N and ORG are divided. A contact stores the list in a component of N, and the units of an
/// organisation, as one text (RFC 6350 §6.2.2, §6.6.4).
///
/// A break is stored as the number of a separator in the text, so it reveals no more than the number of words.
struct ListBreaks: Hashable {
    static let name = "X-CONTACTBROKER-SPLIT"
    /// Between the values of a list in a component of N.
    static let ofName = " "
    /// Between the units of an organisation.
    static let ofUnits = ", "

    /// The numbers of the separators that end a value, counted from 1, by the component's index.
    private var places: [Int: Set<Int>] = [:]

    var isEmpty: Bool { places.isEmpty }

    init() {}

    /// - Parameter lists: the values of each component.
    init(_ lists: some Sequence<[String]>, _ separator: String) {
        for (place, values) in lists.enumerated() where values.count > 1 {
            var count = 0
            for value in values.dropLast() {
                count += Self.pieces(value, separator).count
                places[place, default: []].insert(count)
            }
        }
    }

    /// Parses the parameter's values. Ignores those that are not a component and a number.
    init(_ values: [String]) {
        for value in values {
            let parts = value.split(separator: ".").map { Int($0) }
            guard parts.count == 2, let place = parts[0], let number = parts[1] else { continue }
            places[place, default: []].insert(number)
        }
    }

    /// The parameter, or `nil` if nothing is divided.
    var parameter: Parameter? {
        let values = places.sorted { $0.key < $1.key }.flatMap { place, numbers in
            numbers.sorted().map { "\(place).\($0)" }
        }
        return values.isEmpty ? nil : Parameter(Self.name, values)
    }

    /// Returns the values of the list that a component's text contains. A reader of the list gets the same text.
    func values(of text: String, at place: Int, _ separator: String) -> [String] {
        guard let ends = places[place] else { return [text] }
        var values: [String] = []
        for (number, piece) in Self.pieces(text, separator).enumerated() {
            if let last = values.indices.last, !ends.contains(number) {
                values[last] += separator + piece
            } else {
                values.append(piece)
            }
        }
        // A reader drops empty values, and white space around a value.
        return values.allSatisfy { !$0.isEmpty && ASCII.trimmed($0) == $0 } ? values : [text]
    }

    /// Divides at each separator. Compares bytes, because a space and the accent after it are one character.
    private static func pieces(_ text: String, _ separator: String) -> [String] {
        Array(text.utf8).split(separator: Array(separator.utf8), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
