import AccessControl

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
        let fields = line[line.index(after: close)...].split(separator: UInt8(ascii: " "))
        // Field 3 of the line is the first here.
        guard fields.count >= 20,
            let parent = Self.number(fields[1], as: Int32.self),
            let session = Self.number(fields[3], as: Int32.self),
            let terminal = Self.number(fields[4], as: Int32.self),
            let startTime = Self.number(fields[19], as: UInt64.self)
        else { return nil }
        command = ExecutablePath.text(of: line[(open + 1)..<close])
        self.parent = parent
        self.session = session
        self.terminal = Terminal(statField: terminal)
        self.startTime = startTime
    }

    private static func number<Number: FixedWidthInteger>(_ digits: ArraySlice<UInt8>, as: Number.Type) -> Number? {
        Number(String(decoding: digits, as: UTF8.self))
    }
}
