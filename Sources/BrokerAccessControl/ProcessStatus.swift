/// The fields of `/proc/PID/stat`, proc(5), that this project uses.
public struct ProcessStatus: Hashable {
    public let parent: Int32
    public let session: Int32
    public let terminal: Terminal?
    public let startTime: UInt64

    /// `nil` if the line is malformed.
    ///
    /// The second field is a name in parentheses that the process chooses. The name may contain spaces and parentheses.
    /// It ends at the last parenthesis of the line, because only a letter and numbers follow.
    public init?(line: [UInt8]) {
        guard let close = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        // The text after the parenthesis begins with field 3.
        var fields = line[(close + 1)...]
        func next<Number: FixedWidthInteger>(after skipped: Int, as: Number.Type) -> Number? {
            for _ in 0...skipped {
                fields = fields.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
            }
            let field = fields.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
            return Number(String(decoding: field, as: UTF8.self))
        }
        guard let parent = next(after: 1, as: Int32.self),
            let session = next(after: 1, as: Int32.self),
            let terminal = next(after: 0, as: Int32.self),
            let startTime = next(after: 14, as: UInt64.self)
        else { return nil }
        self.parent = parent
        self.session = session
        self.terminal = Terminal(statField: terminal)
        self.startTime = startTime
    }
}
