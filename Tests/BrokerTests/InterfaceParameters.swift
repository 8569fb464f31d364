import BrokerInterface
import BrokerVarlink

/// The methods of an interface with their parameters, read from its Varlink text.
struct InterfaceParameters {
    indirect enum FieldType {
        case text, number, flag, object
        case words([String])
        case list(FieldType)
        /// An object with a value for each of any number of names.
        case map(FieldType)
        case structure([Field])
    }

    struct Field {
        let name: String
        let type: FieldType
        let isOptional: Bool
    }

    private(set) var methods: [(name: String, parameters: [Field])] = []

    init(_ interface: ContactsInterface) {
        let lines = interface.description.text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("#") }
        var reader = Reader(rest: lines.joined(separator: "\n")[...])
        // Types may be used above their definition.
        for _ in 0..<2 {
            methods = []
            reader.rest = lines.joined(separator: "\n")[...]
            while let keyword = reader.word() {
                let name = reader.word() ?? ""
                switch keyword {
                case "type": reader.types[name] = reader.type()
                case "method":
                    guard case .structure(let parameters) = reader.type() else { preconditionFailure(name) }
                    methods.append((name, parameters))
                    reader.skip("->")
                    _ = reader.type()
                case "error": _ = reader.type()
                default: break
                }
            }
        }
    }

    private struct Reader {
        var rest: Substring
        var types: [String: FieldType] = [:]

        private mutating func skipSpace() { rest = rest.drop { $0.isWhitespace } }

        mutating func skip(_ text: String) {
            skipSpace()
            precondition(rest.hasPrefix(text), "\(text) expected at \(rest.prefix(20))")
            rest = rest.dropFirst(text.count)
        }

        /// Whether the text comes next. If so, skips it.
        mutating func has(_ text: String) -> Bool {
            skipSpace()
            guard rest.hasPrefix(text) else { return false }
            rest = rest.dropFirst(text.count)
            return true
        }

        mutating func word() -> String? {
            skipSpace()
            let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "." }
            rest = rest.dropFirst(word.count)
            return word.isEmpty ? nil : String(word)
        }

        mutating func type() -> FieldType {
            if has("[]") { return .list(type()) }
            if has("[string]") { return .map(type()) }
            guard has("(") else {
                let name = word() ?? ""
                return switch name {
                case "string": .text
                case "int", "float": .number
                case "bool": .flag
                case "object": .object
                default: types[name] ?? .object
                }
            }
            var fields: [Field] = []
            var words: [String] = []
            while !has(")") {
                let name = word() ?? ""
                if has(":") {
                    let isOptional = has("?")
                    fields.append(Field(name: name, type: type(), isOptional: isOptional))
                } else {
                    words.append(name)
                }
                _ = has(",")
            }
            return words.isEmpty ? .structure(fields) : .words(words)
        }
    }
}
