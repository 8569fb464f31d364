import BrokerAccessControl

/// One line of `/proc/PID/stat`, proc(5), as far as it is needed.
struct ProcessStatus: Hashable {
    let command: String
    let parent: Int32
    let session: Int32
    let terminal: Terminal?
    let startTime: UInt64

    /// `nil` for what is not such a line.
    ///
    /// The second field is a name that the process chooses, in parentheses, and may hold spaces and parentheses
    /// itself: it ends with the last one of the line, since all that follows are a letter and numbers.
    init?(line: [UInt8]) {
        guard let open = line.firstIndex(of: UInt8(ascii: "(")),
            let close = line.lastIndex(of: UInt8(ascii: ")")), open < close
        else { return nil }
        // Field 3 of the line is the first here.
        var fields = line[(close + 1)...]
        func next<Number: FixedWidthInteger>(after skipped: Int, as: Number.Type) -> Number? {
            for _ in 0...skipped {
                fields = fields.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
            }
            return Self.number(fields.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }, as: Number.self)
        }
        guard let parent = next(after: 1, as: Int32.self),
            let session = next(after: 1, as: Int32.self),
            let terminal = next(after: 0, as: Int32.self),
            let startTime = next(after: 14, as: UInt64.self)
        else { return nil }
        command = ExecutablePath.text(of: line[(open + 1)..<close])
        self.parent = parent
        self.session = session
        self.terminal = Terminal(statField: terminal)
        self.startTime = startTime
    }

    /// Decimal digits, with or without a sign before them.
    private static func number<Number: FixedWidthInteger>(_ digits: ArraySlice<UInt8>, as: Number.Type) -> Number? {
        let isNegative = digits.first == UInt8(ascii: "-")
        let digits = isNegative ? digits.dropFirst() : digits
        guard !digits.isEmpty else { return nil }
        var value = Number.zero
        for digit in digits {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = digit else { return nil }
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let one = Number(digit - UInt8(ascii: "0"))
            let (next, isTooLargeToo) =
                isNegative ? tens.subtractingReportingOverflow(one) : tens.addingReportingOverflow(one)
            guard !isTooLarge, !isTooLargeToo else { return nil }
            value = next
        }
        return value
    }
}
