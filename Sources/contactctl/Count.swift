/// A number of things in words: `1 rule`, `2 rules`.
enum Count {
    static func words(_ number: some BinaryInteger, _ thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }
}
