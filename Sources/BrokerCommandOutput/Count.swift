/// A number of things in words: `1 rule`, `2,000 rules`.
public enum Count {
    public static func words(_ number: some BinaryInteger, _ thing: String) -> String {
        "\(grouped(number)) \(thing)\(number == 1 ? "" : "s")"
    }

    /// A number with commas between its thousands: `10,003`.
    public static func grouped(_ number: some BinaryInteger) -> String {
        let digits = Array("\(number)")
        return String(
            digits.indices.flatMap { place in
                place > 0 && (digits.count - place).isMultiple(of: 3) && digits[place - 1] != "-"
                    ? [",", digits[place]] : [digits[place]]
            })
    }
}
