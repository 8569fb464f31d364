import BrokerFormatting
import BrokerJSON
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts in the person's language")
struct LanguageTests {
    @Test(
        "The environment chooses the language, and the keys are the same in each",
        arguments: [
            ("de_DE.UTF-8", "möchte Ihre Kontakte sehen.", "[Esc] Jetzt nicht (diese Terminalsitzung)"),
            ("ja_JP.UTF-8", "連絡先の閲覧を求めています。", "[Esc] 今はしない（この端末セッション）"),
            ("zh_CN.UTF-8", "请求查看您的联系人。", "[Esc] 暂不（此终端会话）"),
            ("es_MX.UTF-8", "pide ver tus contactos.", "[c] Elegir contactos…"),
            ("fr_CA.UTF-8", "demande à voir vos contacts.", "[c] Choisir"),
            ("ar_EG.UTF-8", "الاطلاع على جهات اتصالك.", "[c] "),
            ("C", "asks to see your contacts.", "[c] Choose contacts…"),
            ("sv_SE.UTF-8", "asks to see your contacts.", "[c] Choose contacts…"),
        ])
    func chosen(locale: String, title: String, choices: String) throws {
        let fixture = try AgentFixture(environment: ["LANG": locale])
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see(title)
        try fixture.see(choices)
        try fixture.wait(for: "“mail”") { fixture.terminal.screen.contains("mail") }
        fixture.terminal.send("\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }

    @Test("LANGUAGE takes precedence over LANG, unless the locale is C")
    func language() throws {
        for (variables, title) in [
            (["LANG": "de_DE.UTF-8", "LANGUAGE": "fr:en"], "demande à voir"),
            (["LANG": "C", "LANGUAGE": "fr"], "asks to see"),
            (["LANG": "es_ES", "LC_ALL": "de_DE"], "möchte"), (["LANG": "es_ES", "LC_MESSAGES": "ja_JP"], "求めています"),
        ] {
            let fixture = try AgentFixture(environment: variables)
            try fixture.registered()
            fixture.ask(PromptText())
            try fixture.see(title)
            fixture.terminal.send("\u{1B}")
            _ = try fixture.answer()
            fixture.terminal.terminate()
        }
    }

    @Test(
        "A locale that is not a plain name gives English",
        arguments: [
            "../../tmp/evil", "/tmp/evil", "%n%n", "de/../fr", "\u{1B}[2J", String(repeating: "d", count: 5_000),
        ])
    func steered(locale: String) throws {
        let fixture = try AgentFixture(environment: ["LANG": locale, "LANGUAGE": locale])
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("“mail” asks to see your contacts.")
        fixture.terminal.send("\u{1B}")
        _ = try fixture.answer()
    }

    @Test("In Arabic names are isolated, and every drawn line closes its isolates")
    func isolates() throws {
        let arabic = LocalizedNames(languages: ["ar"])
        let prompt = try #require(Prompt(JSONDocument(parsing: Array(PromptText().json.utf8)).root))
        let lines = AccessDialogue(prompt, arabic).lines(on: .minimum, isArmed: true)
        #expect(lines[0].text == "\u{2067}يطلب \u{2068}”mail“\u{2069} الاطلاع على جهات اتصالك.\u{2069}")
        for line in lines {
            for columns in 0...70 {
                let drawn = line.clipped(columns: columns).map(\.text).joined()
                #expect(Isolates.open(in: drawn).isEmpty, "\(drawn)")
                #expect(Columns.width(drawn) <= columns)
                if let first = drawn.unicodeScalars.first { #expect(!Isolates.starts(first)) }
            }
        }
    }

    @Test("A right-to-left name does not move the adjacent text, whether the name is cut or not")
    func rightToLeftNames() throws {
        let json = #"{"identifier":"r1","contact":{"givenName":"محمد","familyName":"الأحمد\u202e"},"enabled":true}"#
        let row = try #require(Row(JSONDocument(parsing: Array(json.utf8)).root))
        #expect(row.name == "\u{2068}محمد الأحمد\u{2069}")
        var list = ContactList()
        list.show(SearchResult(rows: [row], total: 1, offset: 0))
        for columns in [30, 60] {
            let line = list.lines(page: 3, columns: columns, query: "", .inEnglish)[0].text
            #expect(line.hasPrefix("› [ ] \u{2068}م"))
            #expect(Isolates.open(in: line).isEmpty)
            #expect(Columns.width(line) == 6 + max(16, min(40, columns / 2 - 8)) + 2)
        }
    }

    @Test(
        "Complete isolates reach the terminal, and an open one ends with its line",
        arguments: [
            ("a\u{2068}b\u{2069}c", "a\u{2068}b\u{2069}c"), ("a\u{2067}b", "a\u{2067}b\u{2069}"),
            ("a\u{2069}b", "a\u{FFFD}b"), ("a\u{2066}b\u{2069}", "a\u{FFFD}b\u{FFFD}"),
            ("\u{2067}a\u{202E}b\u{2069}", "\u{2067}a\u{FFFD}b\u{2069}"),
        ])
    func lastDoor(text: String, harmless: String) {
        #expect(Columns.harmless(text) == harmless)
    }

    @Test(
        "A line breaks only where its script allows it",
        arguments: [
            ("one two three", 7, ["one two", "three"]), ("one two three", 13, ["one two three"]),
            ("許可しません。", 6, ["許可し", "ませ", "ん。"]), ("「許可」しません", 6, ["「許", "可」し", "ません"]),
            ("ab許可", 4, ["ab許", "可"]), ("wwwwwwww", 4, ["wwwwwwww"]),
            ("one  [q] two three", 14, ["one", "[q] two three"]), ("待つ  [q] 終了", 12, ["待つ", "[q] 終了"]),
            ("one  [q] two three", 6, ["one", "[q]", "two", "three"]),
            ("\u{2067}ab cd\u{2069}", 3, ["\u{2067}ab\u{2069}", "\u{2067}cd\u{2069}"]),
            ("a \u{2068}b c\u{2069} d", 3, ["a \u{2068}b\u{2069}", "\u{2068}c\u{2069} d"]), ("", 3, [""]),
        ])
    func breaking(text: String, columns: Int, lines: [String]) {
        #expect(StyledLine(text).wrapped(columns: columns).map(\.text) == lines)
    }
}
