import BrokerModel
import Testing

@testable import BrokerVCard

@Suite("vCard 2.1 features in cards of 3.0")
struct LeftoverTests {
    private func card(_ lines: [UInt8]...) -> ReadCard? {
        let all = [Array("BEGIN:VCARD".utf8), Array("VERSION:3.0".utf8)] + lines + [Array("END:VCARD".utf8)]
        return cards(items(Array(all.joined(separator: [0x0D, 0x0A])) + [0x0A])).first
    }

    /// 能登;表 in Shift_JIS: the second byte of 能 and of 表 equals a backslash.
    private let noto: [UInt8] = [0x94, 0x5C, 0x93, 0x6F, 0x3B, 0x95, 0x5C]

    @Test("A declared character set is converted before the value is split at separators")
    func shiftJIS() {
        let read = card(Array("N;CHARSET=SHIFT_JIS:".utf8) + noto, Array("X-YOMI;X=1;CHARSET=Shift_JIS:".utf8) + noto)
        #expect(read?.contact.familyName == "能登")
        #expect(read?.contact.givenName == "表")
        #expect(read?.contact.extraProperties == ["X-YOMI;X=1:能登;表"])
        #expect(read?.remarks == [])
    }

    @Test(
        "Character sets are recognised by their common names",
        arguments: [
            ("ISO-8859-1", [0xE9], "é"), ("windows-1252", [0x80], "€"), ("\"iso-8859-15\"", [0xA4], "€"),
            ("windows-1251", [0xC6], "Ж"), ("KOI8-R", [0xD6], "ж"), ("EUC-JP", [0xC6, 0xFC], "日"),
            ("gb2312", [0xC8, 0xD5], "日"), ("Big5", [0xA4, 0xE9], "日"), ("EUC-KR", [0xB1, 0xE8], "김"),
        ] as [(String, [UInt8], String)])
    func names(name: String, bytes: [UInt8], text: String) {
        let read = card(Array("N;CHARSET=\(name):".utf8) + bytes)
        #expect(read?.contact.familyName == text)
        #expect(read?.remarks == [])
    }

    /// A name of every group of the WHATWG Encoding standard's labels, with a character of it; and names of ICU's table.
    private static let labels: [(names: String, bytes: [UInt8], text: String)] = [
        ("866 cp866 csibm866 ibm866", [0x80], "А"),
        ("csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2", [0xB1], "ą"),
        ("csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3", [0xB1], "ħ"),
        ("csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4", [0xB3], "ŗ"),
        ("csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5:1988", [0xB0], "А"),
        ("arabic asmo-708 csiso88596e csiso88596i ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i", [0xC7], "ا"),
        ("ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso_8859-7:1987 sun_eu_greek", [0xE1], "α"),
        ("csiso88598e hebrew iso-8859-8 iso-8859-8-e iso-ir-138 visual csiso88598i iso-8859-8-i logical", [0xE0], "א"),
        ("csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 l6 latin6", [0xB3], "ģ"),
        ("iso-8859-13 iso885913", [0xE0], "ą"),
        ("iso-8859-14 iso885914", [0xA1], "Ḃ"), ("csisolatin9 iso-8859-15 l9 iso_8859-15", [0xA4], "€"),
        ("cskoi8r koi koi8 koi8-r koi8_r koi8-ru koi8-u", [0xC1], "а"),
        ("csmacintosh mac macintosh x-mac-roman", [0x8A], "ä"), ("x-mac-cyrillic x-mac-ukrainian", [0x80], "А"),
        ("dos-874 iso-8859-11 tis-620 windows-874", [0xA1], "ก"), ("cp1250 windows-1250 x-cp1250", [0xB9], "ą"),
        ("cp1251 windows-1251 x-cp1251 CP-1251 Windows_1251 windows1251", [0xC0], "А"),
        ("ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 l1 latin1 us-ascii x-cp1252", [0xE9], "é"),
        ("cp1253 windows-1253 x-cp1253", [0xE1], "α"),
        ("cp1254 csisolatin5 iso-8859-9 l5 latin5 x-cp1254", [0xFD], "ı"),
        ("cp1255 windows-1255 x-cp1255", [0xE0], "א"), ("cp1256 windows-1256 x-cp1256", [0xC7], "ا"),
        ("cp1257 windows-1257 x-cp1257", [0xE0], "ą"), ("cp1258 windows-1258 x-cp1258", [0xFD], "ư"),
        ("chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030", [0xC8, 0xD5], "日"),
        ("big5 big5-hkscs cn-big5 csbig5 x-x-big5", [0xA4, 0xE9], "日"),
        ("cseucpkdfmtjapanese euc-jp x-euc-jp", [0xC6, 0xFC], "日"),
        ("csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis", [0x93, 0xFA], "日"),
        ("cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ksc5601 windows-949", [0xB1, 0xE8], "김"),
        ("ibm-850 cp850 IBM00850 csPC850Multilingual", [0x84], "ä"), ("cp437 IBM437 csPC8CodePage437", [0x84], "ä"),
        ("hp-roman8 roman8 r8 csHPRoman8", [0xCC], "ä"),
    ]

    @Test("Every name of a character set in WHATWG's list is read, and names of ICU's, in any spelling")
    func known() throws {
        let ascii = (UInt8(0x20)...0x7E).map { $0 }
        for (names, bytes, text) in Self.labels {
            let names = names.split(separator: " ").map(String.init)
            for name in names + names.map({ $0.uppercased() }) + names.map({ $0.replacing("_", with: "-") }) {
                let canonical = try #require(TextDecoder.canonicalName(name), "\(name)")
                #expect(TextDecoder.convert(ascii, canonical) == String(decoding: ascii, as: UTF8.self), "\(name)")
                #expect(card(Array("N;CHARSET=\"\(name)\":".utf8) + bytes)?.contact.familyName == text, "\(name)")
            }
        }
        for name in ["utf-16", "UTF-7", "hz-gb-2312", "iso-2022-kr", "ibm-37", "scsu", "bocu-1", "ISCII,version=1", ""]
        {
            #expect(TextDecoder.canonicalName(name) == nil)
        }
    }

    @Test("Valid UTF-8 is read as UTF-8, whatever character set is declared")
    func utf8Wins() {
        let read = card(Array("N;CHARSET=SHIFT_JIS:Ærø".utf8))
        #expect(read?.contact.familyName == "Ærø" && read?.remarks == [])
    }

    @Test(
        "An unknown character set is reported and not looked up",
        arguments: ["", "x-unknown", "../../etc/passwd", "UTF-7", "ISO-2022-JP", "ebcdic-cp-us"])
    func unknown(name: String) {
        let read = card(Array("N;CHARSET=\(name):Ren".utf8) + [0xE9])
        #expect(read?.contact.familyName == "René")
        #expect(read?.remarks == [CardProblem(line: 3, reason: .notUTF8)])
    }

    @Test(
        "Bytes that are invalid in the declared character set are reported",
        arguments: [[0x94, 0x5C, 0x80], [0x94, 0x5C, 0xE9], [0x94, 0x5C, 0xFC, 0xFC]] as [[UInt8]])
    func wrongBytes(bytes: [UInt8]) {
        let read = card(Array("N;CHARSET=SHIFT_JIS:".utf8) + bytes)
        #expect(read?.contact.familyName == "能\u{FFFD}")
        #expect(read?.remarks == [CardProblem(line: 3, reason: .notUTF8)])
    }

    @Test("Quoted-printable is decoded if declared, in any of three ways")
    func quotedPrintable() {
        for said in ["ENCODING=QUOTED-PRINTABLE", "quoted-printable", "CHARSET=utf-8;Encoding=\"Quoted-Printable\""] {
            let read = contact("N;\(said):=C3=86r=C3=B8;Bo", "ADR;HOME;\(said):;;Quay 2=0D=0ADoor 9;Bergen;;;")
            #expect(read?.familyName == "Ærø" && read?.givenName == "Bo")
            #expect(read?.postalAddresses.map(\.street) == ["Quay 2\nDoor 9"])
            #expect(read?.postalAddresses.map(\.label) == ["_$!<Home>!$_"])
        }
        #expect(contact("FN:A", "NOTE:1=3D2")?.note == "1=3D2")
        #expect(contact("FN:A", "NOTE;ENCODING=8BIT:1=3D2")?.note == "1=3D2")
    }

    @Test("Quoted-printable in another character set is converted")
    func quotedPrintableOfCharacterSet() {
        #expect(contact("N;CHARSET=SHIFT_JIS;ENCODING=QUOTED-PRINTABLE:=94=5C;=95\\")?.familyName == "能")
        #expect(contact("N;CHARSET=SHIFT_JIS;ENCODING=QUOTED-PRINTABLE:=94=5C;=95\\")?.givenName == "表")
        #expect(contact("N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:Ren=e9")?.familyName == "René")
    }

    @Test("A soft line break joins lines and keeps the next line's white space; at the end it is dropped")
    func softBreaks() {
        let read = contact(
            "FN:A", "NOTE;ENCODING=QUOTED-PRINTABLE:one=", "two=", " three=20=", "=34=", "", "TEL:1", "EMAIL:a@x.org=",
            "X-A;QUOTED-PRINTABLE:b=")
        #expect(read?.note == "onetwo three 4")
        #expect(read?.phoneNumbers.map(\.value) == ["1"])
        #expect(read?.emailAddresses.map(\.value) == ["a@x.org="])
        #expect(read?.extraProperties == ["X-A:b"])
    }

    @Test("Invalid quoted-printable sequences are kept", arguments: ["=", "=4", "a=ZZb", "100=%", "=\u{E6}"])
    func broken(text: String) {
        let read = contact("FN:A", "NOTE;ENCODING=QUOTED-PRINTABLE:x\(text).")
        #expect(read?.note == "x\(text).")
    }

    @Test("Base64 that ends like a soft line break is not quoted-printable")
    func base64() {
        let read = contact("FN:A", "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4A=", " =", "NOTE:after")
        #expect(read?.imageData == "/9j/4A==" && read?.note == "after")
    }

    @Test("Control characters are removed after either decoding")
    func controls() {
        let read = card(
            Array("NOTE;ENCODING=QUOTED-PRINTABLE:a=1B[31m=00=7F=C2=9Bb".utf8),
            Array("TITLE;CHARSET=SHIFT_JIS:".utf8) + [0x94, 0x5C, 0x1B, 0x07])
        #expect(read?.contact.note == "a[31mb")
        #expect(read?.contact.jobTitle == "能")
    }
}
