/// A parsed document: elements, their attributes, and the text of elements without children.
///
/// It is held compactly, because one multiget names every card of a book: an element takes 20 bytes and its text.
/// White space and other text next to child elements is not kept; no request has text there.
public final class XMLDocument: Sendable {
    struct Node {
        let name: UInt32
        /// The index after the element's last descendant.
        var end: UInt32
        /// The index of the element's first attribute. The attributes end where those of the next element begin.
        let attributes: UInt32
        var textStart: UInt32
        var textEnd: UInt32
    }

    struct Attribute {
        let name: UInt32
        let start: UInt32
        let end: UInt32
    }

    let nodes: [Node]
    let attributes: [Attribute]
    let names: [XMLName]
    /// The text of all elements and attributes.
    let text: [UInt8]

    init(nodes: [Node], attributes: [Attribute], names: [XMLName], text: [UInt8]) {
        self.nodes = nodes
        self.attributes = attributes
        self.names = names
        self.text = text
    }

    public var root: XMLElement { XMLElement(document: self, index: 0) }
}

/// One element of a document.
public struct XMLElement: Sendable {
    let document: XMLDocument
    let index: Int

    private var node: XMLDocument.Node { document.nodes[index] }

    public var name: XMLName { document.names[Int(node.name)] }

    /// The element's text in UTF-8; empty if the element has children.
    public var bytes: ArraySlice<UInt8> { document.text[Int(node.textStart)..<Int(node.textEnd)] }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The text without white space at its ends (XML 1.0 §2.3). Clients indent hrefs and tokens.
    public var trimmedText: String {
        var slice = bytes
        while let first = slice.first, Self.isSpace(first) { slice.removeFirst() }
        while let last = slice.last, Self.isSpace(last) { slice.removeLast() }
        return String(decoding: slice, as: UTF8.self)
    }

    public var children: Children { Children(document: document, position: index + 1, end: Int(node.end)) }

    public func children(named name: XMLName) -> some Sequence<XMLElement> {
        children.lazy.filter { $0.name == name }
    }

    public func firstChild(named name: XMLName) -> XMLElement? { children.first { $0.name == name } }

    /// Returns the value of an attribute that is in no namespace, as all attributes of WebDAV are.
    public func attribute(_ local: String) -> String? {
        let nodes = document.nodes
        let end = index + 1 < nodes.count ? Int(nodes[index + 1].attributes) : document.attributes.count
        for attribute in document.attributes[Int(node.attributes)..<end] {
            guard document.names[Int(attribute.name)] == XMLName("", local) else { continue }
            return String(decoding: document.text[Int(attribute.start)..<Int(attribute.end)], as: UTF8.self)
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// The elements directly inside an element, in the order of the document.
    public struct Children: Sequence, IteratorProtocol, Sendable {
        let document: XMLDocument
        var position: Int
        let end: Int

        public mutating func next() -> XMLElement? {
            guard position < end else { return nil }
            defer { position = Int(document.nodes[position].end) }
            return XMLElement(document: document, index: position)
        }
    }
}
