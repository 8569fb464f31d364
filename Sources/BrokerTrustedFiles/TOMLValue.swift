import CBrokerTOML

/// A parsed TOML text. It owns the memory of its values.
final class TOMLDocument {
    /// The file's name, for errors.
    let file: String
    private let document: OpaquePointer

    init(_ text: String, file: String) throws(TrustedFileError) {
        // A system call reads a name only up to a NUL, so it would use a shorter name than the one in the file.
        guard !text.utf8.contains(0), !text.contains("\\u0000"), !text.contains("\\U00000000") else {
            throw TrustedFileError(file: file, reason: "contains a NUL character")
        }
        self.file = file
        var text = text
        document = text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { ctoml_parse($0.baseAddress, $0.count) }
        }
        var line: UInt32 = 0
        if let reason = ctoml_error(document, &line) {
            throw TrustedFileError(file: file, line: Int(line), reason: String(cString: reason))
        }
    }

    deinit { ctoml_free(document) }

    var root: TOMLValue { TOMLValue(document: self, node: ctoml_root(document)) }
}

/// A value. Each optional property is `nil` if the value has a different type.
public struct TOMLValue {
    let document: TOMLDocument
    fileprivate let node: OpaquePointer

    /// The line where the value begins, counted from 1.
    var line: Int { Int(ctoml_line(node)) }

    public var array: [TOMLValue]? {
        guard ctoml_is_array(node) else { return nil }
        return (0..<ctoml_count(node)).compactMap { ctoml_element(node, $0) }.map {
            TOMLValue(document: document, node: $0)
        }
    }

    public var int: Int? { ctoml_integer(node).map { Int($0.pointee) } }

    public var bool: Bool? { ctoml_boolean(node)?.pointee }

    public var string: String? {
        var size = 0
        guard let start = ctoml_string(node, &size) else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: size), as: UTF8.self)
    }

    // MARK: Tables

    var isTable: Bool { ctoml_is_table(node) }

    /// The table's keys, sorted by their bytes.
    var keys: some Sequence<String> {
        (0..<ctoml_count(node)).lazy.compactMap { index in
            var size = 0
            guard let key = ctoml_key(node, index, &size) else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: key, count: size), as: UTF8.self)
        }
    }

    subscript(key: String) -> TOMLValue? {
        var key = key
        let member = key.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { ctoml_member(node, $0.baseAddress, $0.count) }
        }
        return member.map { TOMLValue(document: document, node: $0) }
    }
}
