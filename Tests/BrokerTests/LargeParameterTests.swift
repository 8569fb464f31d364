import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Glibc
import Testing

@testable import BrokerCore

@Suite("Parameters of the largest size")
struct LargeParameterTests {
    private typealias FieldType = InterfaceParameters.FieldType
    private typealias Field = InterfaceParameters.Field

    /// A value of which one part is as large as a call can be.
    private struct Large {
        /// The names of the parts down to the large one.
        var path = ""
        /// The value as JSON.
        let value: () -> String
    }

    /// How many elements a list gets, and about how many bytes a text. A nested list gets a tenth of the elements, because
    /// there are many nested lists.
    private static let elements = 1_000_000
    private static let bytes = 15_000_000

    /// Values of a type of which one part is large, each with every other part that is required.
    private static func large(_ type: FieldType, _ part: Int = 1) -> [Large] {
        switch type {
        case .text, .words: return [Large { text() }]
        case .object: return [Large { #"{"note":\#(text())}"# }]
        case .number: return [Large { String(repeating: "9", count: bytes) }]
        case .flag: return []
        case .map(let value):
            return [
                Large { "{\((0..<elements / 10).map { #""a\#($0)":\#(sample(value))"# }.joined(separator: ","))}" }
            ]
        case .list(let element):
            return [Large { list(of: sample(element), part) }]
                + large(element, 10).map { inner in Large(path: "[0]" + inner.path) { "[\(inner.value())]" } }
        case .structure(let fields):
            // A photo may be as long as that, so it is refused only after it was read.
            return fields.filter { $0.name != "imageData" }.flatMap { field in
                large(field.type, 10).map { inner in
                    Large(path: "." + field.name + inner.path) { object(fields, large: field.name, inner.value()) }
                }
            }
        }
    }

    /// A text of another script, with escapes, so that it takes long to decode, to compare and to count.
    private static func text() -> String {
        let piece = String(repeating: "漢", count: 100) + #"\u006e"#
        return "\"" + String(repeating: piece, count: bytes / piece.utf8.count) + "\""
    }

    private static func list(of element: String, _ part: Int) -> String {
        // A text may have two million values. An object with one member is three.
        let values = 1 + element.utf8.count { $0 == UInt8(ascii: ":") } * 2
        let count = min(elements / part, 1_900_000 / values, bytes / (element.utf8.count + 1))
        return "[" + String(repeating: element + ",", count: count - 1) + element + "]"
    }

    /// An object whose first member is the large one.
    private static func object(_ fields: [Field], large name: String, _ value: String) -> String {
        let others = fields.filter { !$0.isOptional && $0.name != name }.map { #","\#($0.name)":\#(sample($0.type))"# }
        return #"{"\#(name)":\#(value)\#(others.joined())}"#
    }

    /// A small value.
    private static func sample(_ type: FieldType) -> String {
        switch type {
        // The name of a key where keys are expected, and valid in other places.
        case .text: #""note""#
        case .number: "1"
        case .flag: "true"
        case .object, .map: "{}"
        case .words(let words): #""\#(words[0])""#
        case .list(let element): "[\(sample(element))]"
        case .structure(let fields):
            "{" + fields.filter { !$0.isOptional }.map { #""\#($0.name)":\#(sample($0.type))"# }.joined(separator: ",")
                + "}"
        }
    }

    /// Methods that leave a call open until the person answers.
    private static let waiting: Set<String> = [
        "RequestAccess", "RequestContacts", "PickContacts", "ProposeContact", "Serve",
    ]

    /// The processor time, in nanoseconds, that the event loop's thread needs to answer a call whose long frame another
    /// thread has parsed. It is the least of several times.
    private func cost(
        of method: String, _ parameters: String, _ interface: ContactsInterface, in fixture: BrokerFixture
    ) throws -> Int {
        let root = try JSONDocument(parsing: Array(parameters.utf8)).root
        var least = Int.max
        for _ in 0..<3 {
            let app = TestApp(fixture: fixture, caller: fixture.caller("mail"), interface: interface)
            let call = Call(
                method: "\(interface.name).\(method)", parameters: root, more: true, oneway: false, connection: app)
            let start = Self.processorTime
            fixture.broker.answer(call)
            fixture.loop.iterate()
            if !Self.waiting.contains(method) { #expect(fixture.loop.run { call.isOver }) }
            least = min(least, Self.processorTime - start)
            app.hangUp()
            fixture.loop.iterate()
        }
        return least
    }

    /// The processor time that the event loop's thread needs to receive the frame of a call.
    private func costOfReceiving(_ parameters: String) throws -> Int {
        let bytes = CallFrame.encode("a.b", parameters: Array(parameters.utf8))
        var least = Int.max
        for _ in 0..<3 {
            let start = Self.processorTime
            var decoder = FrameDecoder(maximumFrameSize: bytes.count)
            for place in stride(from: 0, to: bytes.count, by: 65_536) {
                decoder.append(bytes.span.extracting(place..<min(place + 65_536, bytes.count)).bytes)
            }
            #expect(try decoder.nextFrame()?.count == bytes.count - 1)
            least = min(least, Self.processorTime - start)
        }
        return least
    }

    private static var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    @Test(
        "No list of a million elements and no text of 15 MB costs the event loop twice as much as in an unknown parameter",
        arguments: ContactsInterface.allCases)
    func cost(interface: ContactsInterface) throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        try fixture.grant(.full, to: TestApp(fixture: fixture, caller: fixture.caller("mail")))
        // What the same bytes cost in an unknown parameter, by their number.
        var unknown: [Int: (receiving: Int, answering: Int)] = [:]
        for (method, parameters) in InterfaceParameters(interface).methods {
            for parameter in parameters {
                // Also the parameter many times.
                let many = Large { Self.list(of: Self.sample(parameter.type), 10) }
                for large in Self.large(parameter.type) + [many] {
                    let value = large.value()
                    let known = try cost(
                        of: method, Self.object(parameters, large: parameter.name, value), interface, in: fixture)
                    if unknown[value.utf8.count] == nil {
                        let object = #"{"unknown":\#(value)}"#
                        unknown[value.utf8.count] = (
                            try costOfReceiving(object), try cost(of: method, object, interface, in: fixture)
                        )
                    }
                    // Both are received alike. Two milliseconds more are less than any of it takes to read.
                    let (receiving, answering) = try #require(unknown[value.utf8.count])
                    let bound = receiving + 2 * answering + 2_000_000
                    #expect(
                        known <= bound,
                        "\(method) \(parameter.name)\(large.path): \(known / 1_000) µs, not at most \(bound / 1_000)")
                }
            }
        }
    }
}
