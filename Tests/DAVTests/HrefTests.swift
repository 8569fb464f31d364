import BrokerDAV
import Testing

@Suite("Hrefs")
struct HrefTests {
    private func href(_ text: String) throws(HrefError) -> Href {
        try Href(parsing: text, authority: "127.0.0.1:5232")
    }

    @Test(
        "All spellings of a path are one href",
        arguments: [
            ("/a/co%3Alon%40.vcf", ["/a/co:lon@.vcf", "/%61/co%3alon%40.vcf", "http://127.0.0.1:5232/a/co:lon@.vcf"]),
            (
                "/a/%C3%A9%2B%20%25.vcf",
                ["/a/é+ %25.vcf", "/a/%c3%a9%2b%20%25.vcf", "HTTP://127.0.0.1:5232/a/é%2B%20%25.vcf"]
            ),
            ("/a/", ["/a/", "/%61/"]), ("/", ["/", "http://127.0.0.1:5232", "http://127.0.0.1:5232/"]),
            ("/a/%26%3B%3F%23%5B%5C~-._", ["/a/&;%3F%23[\\~-._"]), ("/...", ["/...", "/%2E.."]),
        ])
    func canonical(text: String, spellings: [String]) throws {
        let hrefs = try spellings.map(href)
        #expect(hrefs.allSatisfy { $0.text == text })
        #expect(Set(hrefs).count == 1)
        #expect(try href(text) == hrefs[0])
        #expect(try Href(hrefs[0].segments, isCollection: hrefs[0].isCollection) == hrefs[0])
    }

    @Test("Two encodings of é, upper case, and a slash at the end make different paths")
    func different() throws {
        let hrefs = try ["/a/%C3%A9", "/a/e%CC%81", "/a/e", "/A/e", "/a/e/"].map(href)
        #expect(Set(hrefs).count == 5)
        #expect(hrefs.map(\.isCollection) == [false, false, false, false, true])
        #expect(hrefs[0].segments == ["a", "é"])
    }

    @Test(
        "Paths that climb out, name another host or are not paths are refused",
        arguments: [
            ("", HrefError.notAnAbsolutePath), ("a.vcf", .notAnAbsolutePath), ("../a", .notAnAbsolutePath),
            ("*", .notAnAbsolutePath), ("//host/a", .notAnAbsolutePath), ("//127.0.0.1:5232/a", .notAnAbsolutePath),
            ("https://127.0.0.1:5232/a", .notAnAbsolutePath), ("file:///a", .notAnAbsolutePath),
            ("127.0.0.1:5232", .notAnAbsolutePath), ("http:/a", .notAnAbsolutePath), ("http://host/a", .otherHost),
            ("http://127.0.0.1/a", .otherHost), ("http://ann@127.0.0.1:5232/a", .otherHost),
            ("http://127.0.0.1:5232.evil/a", .otherHost), ("http:///a", .otherHost), ("/a?b", .queryOrFragment),
            ("/a#b", .queryOrFragment), ("http://127.0.0.1:5232?/a", .queryOrFragment), ("/a//b", .emptySegment),
            ("http://127.0.0.1:5232//a", .emptySegment), ("/a//", .emptySegment), ("/.", .dotSegment),
            ("/a/../b", .dotSegment), ("/a/%2e%2E/b", .dotSegment), ("/a/..", .dotSegment), ("/%2e/", .dotSegment),
            ("/a%2Fb", .forbiddenCharacter), ("/a%2fb", .forbiddenCharacter), ("/a%00b", .forbiddenCharacter),
            ("/a\0b", .forbiddenCharacter), ("/a\nb", .forbiddenCharacter), ("/a%0d%0Ab", .forbiddenCharacter),
            ("/a%7F", .forbiddenCharacter), ("/a%", .invalidEscape), ("/a%4", .invalidEscape),
            ("/a%4g", .invalidEscape),
            ("/a%-1", .invalidEscape), ("/a%FF", .invalidUTF8), ("/a%C0%AF", .invalidUTF8),
            ("/a%ED%A0%80", .invalidUTF8),
            ("/a%C3", .invalidUTF8), ("/" + String(repeating: "a", count: 4_096), .tooLong),
            ("/" + String(repeating: "é", count: 1_000), .tooLong),
        ])
    func hostile(text: String, error: HrefError) {
        #expect(throws: error) { try href(text) }
    }

    @Test("Absolute URIs need an authority; a path may be as long as the limit")
    func limits() throws {
        #expect(throws: HrefError.otherHost) { try Href(parsing: "http://127.0.0.1/a", authority: nil) }
        #expect(try href("/" + String(repeating: "a", count: 4_095)).text.utf8.count == DAVBounds.href)
        #expect(throws: HrefError.forbiddenCharacter) { try Href(["a/b"], isCollection: false) }
        #expect(throws: HrefError.dotSegment) { try Href([".."], isCollection: false) }
        #expect(throws: HrefError.emptySegment) { try Href([""], isCollection: true) }
        #expect(try Href([], isCollection: true).text == "/")
    }
}
