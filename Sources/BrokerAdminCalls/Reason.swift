import BrokerJSON
import BrokerModel

/// A sentence of an explanation. Its times are data, so that a client can show them in its time zone without searching the
/// words for them.
struct Reason: ExpressibleByStringInterpolation {
    enum Part {
        case text(String)
        /// In seconds since 1970.
        case time(Int64)
    }

    private(set) var parts: [Part]

    init(stringLiteral value: String) { parts = [.text(value)] }

    init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { if !literal.isEmpty { parts.append(.text(literal)) } }
        mutating func appendInterpolation(_ text: String) { appendLiteral(text) }
        mutating func appendInterpolation(_ number: some BinaryInteger) { appendLiteral("\(number)") }
        mutating func appendInterpolation(_ reason: Reason) { parts += reason.parts }
        mutating func appendInterpolation(time: Int64) { parts.append(.time(time)) }
    }

    /// The sentence with times in UTC.
    var text: String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .time(let seconds): Timestamp.text(seconds: seconds)
            }
        }
        .joined()
    }

    /// Writes the parts as a value of `explanation` in `ExplainDecision`.
    func write(_ writer: inout JSONWriter) {
        writer.object {
            $0.name("parts")
            $0.array(parts) { writer, part in
                writer.object {
                    switch part {
                    case .text(let text): $0.member("text", text)
                    case .time(let seconds): $0.member("time", Timestamp.text(seconds: seconds))
                    }
                }
            }
        }
    }
}
