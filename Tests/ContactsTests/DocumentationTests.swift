import Foundation
import Testing

/// An author of an app who looks up a name of the library in an editor must find a sentence about it.
@Suite("Documentation comments of the library")
struct DocumentationTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    /// The library's source files.
    private static let files: [String] = {
        [root + "/Sources/Contacts", root + "/Sources/ContactsUI"].flatMap { folder in
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
            return names.filter { $0.hasSuffix(".swift") }.sorted().map { folder + "/" + $0 }
        }
    }()

    @Test("Every public name has a documentation comment")
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

    @Test("The check finds public names without a documentation comment")
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
                @preconcurrency open func overridden() {}
            }
            """
        #expect(
            Declarations(in: source).undocumented == [
                "case bare = 0", "public static var Bare: Kind { .bare }", "public protocol Visitor {", "func visit()",
                "public func apart() {}", "@preconcurrency open func overridden() {}",
            ])
    }
}

/// The public declarations of a source, by line. It understands this project's style, not all of Swift.
private struct Declarations {
    var count = 0
    /// Declarations without a `///` directly above them and their attributes.
    var undocumented: [String] = []

    init(in source: String) {
        var depth = 0
        /// Public types whose members are public without the keyword, by the depth of their members.
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
            let isPublic = words.first == "public" || words.first == "open" || isMember
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
