import CBrokerTOML

/// A text in TOML, parsed; it owns what its tables and values point to.
final class TOMLDocument {
    /// Why a text is no TOML.
    struct Misshapen: Error {
        let line: Int
        let reason: String
    }

    private let document: OpaquePointer

    init(_ text: String) throws(Misshapen) {
        var text = text
        var line: UInt32 = 0
        var reason = [CChar](repeating: 0, count: 256)
        let parsed = text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) {
                ctoml_parse($0.baseAddress, $0.count, &line, &reason, reason.count)
            }
        }
        guard let parsed else {
            let bytes = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw Misshapen(line: Int(line), reason: String(decoding: bytes, as: UTF8.self))
        }
        document = parsed
    }

    deinit { ctoml_free(document) }

    var root: TOMLTable { TOMLTable(document: self, node: ctoml_root(document)) }
}

/// A table: values by their keys.
public struct TOMLTable {
    fileprivate let document: TOMLDocument
    fileprivate let node: OpaquePointer

    /// In the order of their bytes.
    public var keys: [String] {
        var keys: [String] = []
        withUnsafeMutablePointer(to: &keys) { keys in
            let append: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int) -> Void = {
                context, key, size in
                guard let context, let key else { return }
                let bytes = UnsafeRawBufferPointer(start: key, count: size)
                context.assumingMemoryBound(to: [String].self).pointee.append(String(decoding: bytes, as: UTF8.self))
            }
            ctoml_keys(node, append, keys)
        }
        return keys
    }

    /// `nil` where there is no such key.
    public subscript(key: String) -> TOMLValue? {
        var key = key
        let member = key.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { ctoml_member(node, $0.baseAddress, $0.count) }
        }
        return member.map { TOMLValue(document: document, node: $0) }
    }
}

/// An array of values of any kind.
public struct TOMLArray {
    fileprivate let document: TOMLDocument
    fileprivate let node: OpaquePointer

    public var count: Int { ctoml_count(node) }

    /// - Parameter index: below ``count``.
    public subscript(index: Int) -> TOMLValue {
        guard let element = ctoml_element(node, index) else { preconditionFailure("an index past the array") }
        return TOMLValue(document: document, node: element)
    }
}

/// A value; `nil` is its answer for every kind but its own.
public struct TOMLValue {
    fileprivate let document: TOMLDocument
    fileprivate let node: OpaquePointer

    public var table: TOMLTable? {
        ctoml_kind(node) == CTOML_TABLE ? TOMLTable(document: document, node: node) : nil
    }

    public var array: TOMLArray? {
        ctoml_kind(node) == CTOML_ARRAY ? TOMLArray(document: document, node: node) : nil
    }

    public var int: Int? { ctoml_kind(node) == CTOML_INTEGER ? Int(ctoml_integer(node)) : nil }

    public var bool: Bool? { ctoml_kind(node) == CTOML_BOOLEAN ? ctoml_boolean(node) : nil }

    public var string: String? {
        guard ctoml_kind(node) == CTOML_STRING else { return nil }
        var size = 0
        guard let start = ctoml_string(node, &size) else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: size), as: UTF8.self)
    }
}
