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

    @Test("ICU supports every listed character set, and ASCII is unchanged in each")
    func known() {
        let ascii = (UInt8(0x20)...0x7E).map { $0 }
        for name in TextDecoder.converted {
            #expect(TextDecoder.convert(ascii, name) == String(decoding: ascii, as: UTF8.self), "\(name)")
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
