import Foundation
import Testing

/// Whoever meets a name of the library in an editor reads a sentence about it.
@Suite("The documentation of the library")
struct DocumentationTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    /// The library's sources.
    private static let files: [String] = {
        let folder = root + "/Sources/Contacts"
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".swift") }.sorted().map { folder + "/" + $0 }
    }()

    @Test("Every name that an app can use has a sentence")
    func everyName() throws {
        #expect(Self.files.count > 40)
        var declarations = 0
        for file in Self.files {
            let source = try String(contentsOfFile: file, encoding: .utf8)
            let found = Declarations(in: source)
            declarations += found.count
            #expect(found.undocumented.isEmpty, "\(file)")
        }
        #expect(declarations > 600)
    }

    @Test("A name without a sentence is found, wherever it stands")
    func finds() {
        let source = """
            /// A type.
            public enum Kind: Int {
                case bare = 0
                /// Said.
                case said
                // No sentence for others to read.
                @available(*, deprecated)
                public static var Bare: Kind { .bare }
                private enum Inner { case hidden }
            }
            enum Hidden { case alone }
            public protocol Visitor {
                func visit()
            }
            extension Kind {
                /// Said.
                @discardableResult
                public func said() -> Int {
                    switch self {
                    case .bare: 1
                    case .said: 2
                    }
                }

                /// Of nothing.

                public func apart() {}
            }
            """
        #expect(
            Declarations(in: source).undocumented == [
                "case bare = 0", "public static var Bare: Kind { .bare }", "public protocol Visitor {", "func visit()",
                "public func apart() {}",
            ])
    }
}

/// The declarations in a source that an app can see, by their lines. It knows this house's style and not all of Swift.
private struct Declarations {
    var count = 0
    /// Those that no `///` stands right above, attributes left aside.
    var undocumented: [String] = []

    init(in source: String) {
        var depth = 0
        /// Public types whose members are public without saying so, by the depth of their members.
        var open: [(depth: Int, kind: Substring)] = []
        var isDocumented = false
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("///") {
                isDocumented = true
                continue
            }
            let words = text.split(separator: " ").filter { !$0.hasPrefix("@") }
            let isAttribute = text.hasPrefix("@") && !words.contains { ["func", "var", "let", "init"].contains($0) }
            if text.hasPrefix("//") || isAttribute { continue }
            let kind = open.last.flatMap { $0.depth == depth ? $0.kind : nil }
            let isMember =
                kind == "enum" && words.first == "case"
                || kind == "protocol" && ["func", "var", "init"].contains(words.first?.prefix { $0.isLetter } ?? "")
            let isPublic = words.first == "public" || isMember
            if isPublic {
                count += 1
                if !isDocumented { undocumented.append(String(text)) }
            }
            if words.first == "public", let kind = words.first(where: { $0 == "enum" || $0 == "protocol" }) {
                open.append((depth + 1, kind))
            }
            depth += text.count { $0 == "{" } - text.count { $0 == "}" }
            while let last = open.last, last.depth > depth { open.removeLast() }
            isDocumented = false
        }
    }
}
