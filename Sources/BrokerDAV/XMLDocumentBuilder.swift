/// Collects the parts of a document in the order in which expat reports them, and enforces the limits on them.
struct XMLDocumentBuilder {
    private let limits: XMLLimits
    private var nodes: [XMLDocument.Node] = []
    private var attributes: [XMLDocument.Attribute] = []
    private var text: [UInt8] = []
    private var names: [XMLName] = []
    /// The places of names in `names`, by the bytes that expat reports.
    private var places: [[UInt8]: UInt32] = [:]
    private var open: [(index: Int, textSize: Int)] = []

    init(limits: XMLLimits) { self.limits = limits }

    // All offsets fit into 32 bits: the text is not longer than the document, whose limit is below 4 GiB.

    mutating func begin(_ name: UnsafeRawBufferPointer) throws(XMLError) {
        guard nodes.count < DAVBounds.elements else { throw .tooManyElements }
        guard open.count < DAVBounds.depth else { throw .tooDeep }
        let place = try self.place(of: name)
        if let parent = open.last?.index, nodes.count == parent + 1 {
            // The parent's first child: what came before it is not the text of an element without children.
            text.removeLast(text.count - Int(nodes[parent].textStart))
            nodes[parent].textEnd = nodes[parent].textStart
        }
        let start = UInt32(text.count)
        nodes.append(
            XMLDocument.Node(
                name: place, end: 0, attributes: UInt32(attributes.count), textStart: start, textEnd: start))
        open.append((nodes.count - 1, 0))
    }

    /// Adds an attribute to the element that was begun last.
    mutating func attribute(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(XMLError) {
        guard let element = open.last?.index else { return }
        guard attributes.count < DAVBounds.attributesInDocument,
            attributes.count - Int(nodes[element].attributes) < DAVBounds.attributes
        else { throw .tooManyAttributes }
        let place = try self.place(of: name)
        let start = UInt32(text.count)
        text.append(contentsOf: value)
        let end = UInt32(text.count)
        attributes.append(XMLDocument.Attribute(name: place, start: start, end: end))
        nodes[element].textStart = end
        nodes[element].textEnd = end
    }

    mutating func characters(_ bytes: UnsafeRawBufferPointer) throws(XMLError) {
        guard let (element, size) = open.last else { return }
        guard size + bytes.count <= limits.text else { throw .textTooLong }
        open[open.count - 1].textSize += bytes.count
        guard nodes.count == element + 1 else { return }
        text.append(contentsOf: bytes)
        nodes[element].textEnd = UInt32(text.count)
    }

    mutating func end() {
        guard let (element, _) = open.popLast() else { return }
        nodes[element].end = UInt32(nodes.count)
    }

    func document() -> XMLDocument {
        XMLDocument(nodes: nodes, attributes: attributes, names: names, text: text)
    }

    /// Names are compared by their bytes. Swift would treat two encodings of é as equal.
    private mutating func place(of name: UnsafeRawBufferPointer) throws(XMLError) -> UInt32 {
        guard name.count <= DAVBounds.name else { throw .nameTooLong }
        let key = Array(name)
        if let place = places[key] { return place }
        guard names.count < DAVBounds.names else { throw .tooManyNames }
        let parts = key.split(separator: XMLReader.separator, maxSplits: 1, omittingEmptySubsequences: false)
        let local = String(decoding: parts.last ?? [], as: UTF8.self)
        names.append(XMLName(parts.count == 2 ? String(decoding: parts[0], as: UTF8.self) : "", local))
        places[key] = UInt32(names.count - 1)
        return UInt32(names.count - 1)
    }
}
