import CBrokerIdentify
import Testing

@testable import BrokerPeerIdentity

@Suite("Parsing .flatpak-info")
struct FlatpakInfoTests {
    private func parse(_ text: String) -> (app: String, instance: String)? {
        var app = [CChar](repeating: 1, count: Int(IDENTIFY_NAME_SIZE))
        var instance = app
        let result = text.withCString { identify_parse_info($0, text.utf8.count, &app, &instance) }
        guard result == 0 else { return nil }
        let texts = [app, instance].map { text in
            String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return (texts[0], texts[1])
    }

    @Test("The app and its instance are read")
    func names() throws {
        let text = """
            [Application]
            name=org.example.Mail
            runtime=runtime/org.example.Platform/x86_64/1

            [Instance]
            instance-id=4242
            name=other
            [Context]
            name=another
            """
        let names = try #require(parse(text))
        #expect(names.app == "org.example.Mail")
        #expect(names.instance == "4242")
    }

    @Test(
        "Missing values are empty", arguments: ["", "\n", "[Runtime]\nname=x", "name=x", "[Application]\nname:x"])
    func silent(text: String) throws {
        let names = try #require(parse(text))
        #expect(names.app.isEmpty && names.instance.isEmpty)
    }

    @Test(
        "A file that flatpak would not write is refused",
        arguments: [
            "[Application]\nname=", "[Application]\nname=a b", "[Application]\nname=a\nname=b",
            "[Application]\nname=a\n[Application]\nname=a", "[Application]\nname=a/../b", "[Application]\nname=a\r\n",
            "[Application]\nname= a", "[Instance]\ninstance-id=\u{1b}[2J", "[Application]\nname=a\0b", "\0",
            "[Application]\nname=" + String(repeating: "a", count: 256),
        ])
    func wrong(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("A name of the maximum length is accepted")
    func longest() {
        let name = String(repeating: "a", count: 255)
        #expect(parse("[Application]\nname=" + name)?.app == name)
    }
}
