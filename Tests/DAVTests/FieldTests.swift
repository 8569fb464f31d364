import BrokerDAV
import Testing

@Suite("Header fields")
struct FieldTests {
    @Test("Depth is 0, 1 or infinity; each method has its own default")
    func depth() throws {
        #expect(try Depth("0", absent: .infinity) == .zero)
        #expect(try Depth(" 1 ", absent: .zero) == .one)
        #expect(try Depth("Infinity", absent: .zero) == .infinity)
        #expect(try Depth(nil, absent: .zero) == .zero)
        for field in ["", "2", "1,noroot", "0, 1"] {
            #expect(throws: FieldError.malformed) { try Depth(field, absent: .zero) }
        }
    }

    @Test(
        "If-Match and If-None-Match",
        arguments: [
            (#""1""#, nil, "1", RequestConditions.Outcome.met), (#""1""#, nil, "2", .failed),
            (#""1""#, nil, nil, .failed),
            (#""2" , "1""#, nil, "1", .met), (#"W/"1""#, nil, "1", .failed), ("*", nil, "1", .met),
            ("*", nil, nil, .failed),
            (nil, "*", nil, .met), (nil, "*", "1", .notModified), (nil, #""1""#, "1", .notModified),
            (nil, #"W/"1""#, "1", .notModified), (nil, #""2""#, "1", .met), (nil, #""2""#, nil, .met),
            (#""a,b\""#, nil, #"a,b\"#, .met), (#""1""#, "*", "1", .notModified), (nil, nil, nil, .met),
            (#",, """#, nil, "", .met),
        ] as [(String?, String?, String?, RequestConditions.Outcome)])
    func conditions(
        ifMatch: String?, ifNoneMatch: String?, current: String?, outcome: RequestConditions.Outcome
    ) throws {
        let conditions = try RequestConditions(
            ifMatch: ifMatch.map { [$0] } ?? [], ifNoneMatch: ifNoneMatch.map { [$0] } ?? [])
        #expect(conditions.evaluate(current.flatMap { EntityTag($0) }) == outcome)
    }

    @Test("Several fields of a name are one list, and a weak current tag matches no If-Match")
    func lists() throws {
        let conditions = try RequestConditions(ifMatch: [#""1""#, #""2""#], ifNoneMatch: [])
        #expect(conditions.evaluate(EntityTag("2")) == .met)
        #expect(conditions.evaluate(EntityTag("2", isWeak: true)) == .failed)
        #expect(EntityTag("2")?.text == "\"2\"")
        #expect(EntityTag("a\"b") == nil)
    }

    @Test(
        "A list of tags of any other form is an error, since ignoring it would overwrite",
        arguments: [
            "", "1", "\"1", "1\"", "\"1\" \"2\"", "\"1\"x", "w/\"1\"", "W\"1\"", "*, \"1\"", "\"1\",*", ",", "\"a b\"",
            "\"a\nb\"",
        ])
    func malformedTags(text: String) {
        #expect(throws: FieldError.malformed) { try EntityTagList([text]) }
    }

    @Test("A list of tags has a limited size")
    func tagCount() throws {
        let tags = Array(repeating: "\"1\"", count: DAVBounds.fieldItems)
        #expect(throws: Never.self) { try EntityTagList(tags) }
        #expect(throws: FieldError.tooLong) { try EntityTagList(tags + tags) }
        #expect(throws: FieldError.tooLong) { try EntityTagList([String(repeating: " ", count: 9_000) + "x"]) }
    }

    @Test(
        "Prefer",
        arguments: [
            (["return=minimal"], ReturnPreference.minimal), (["respond-async, Return = \"minimal\"; x"], .minimal),
            (["wait=1", "return=representation"], .representation), (["return=none"], nil), (["minimal"], nil),
            ([], nil),
            (["return=\"minimal"], nil), (["return=minimal;return=representation"], .minimal),
        ])
    func prefer(fields: [String], preference: ReturnPreference?) {
        #expect(ReturnPreference(fields) == preference)
    }

    @Test(
        "Accept prefers a version of vCard",
        arguments: [
            ([], CardVersion.v3), (["*/*"], .v3), (["text/vcard"], .v3), (["text/vcard;version=4.0"], .v4),
            (["text/vcard; version=\"4.0\", text/vcard; q=0.5"], .v4), (["text/vcard;version=4.0, text/vcard"], .v4),
            (["text/vcard;version=3.0, text/vcard;version=4.0"], .v3),
            (["text/vcard;version=4.0;q=0.3", "text/vcard;version=3.0;q=0.7"], .v3),
            (["text/vcard;version=4.0;q=0"], .v3), (["text/vcard;version=4.0;q=nan"], .v3),
            (["text/vcard;version"], .v3),
            (["text/vcard;version=3.0;q=0, */*"], .v4), (["application/json"], .v3),
            (["\"", "text/vcard;version=4.0"], .v3),
        ])
    func accept(fields: [String], version: CardVersion) {
        #expect(CardVersion.preferred(byAccept: fields) == version)
    }

    @Test(
        "Content types of cards are in UTF-8",
        arguments: [
            ("text/vcard", true), ("text/vcard; charset=\"utf-8\"", true), ("TEXT/x-vCard;charset=UTF-8", true),
            ("text/directory; profile=vcard", true), ("text/vcard; charset=iso-8859-1", false), ("text/plain", false),
            ("text/vcard+x", false),
        ])
    func contentTypes(text: String, isCard: Bool) throws {
        #expect(try MediaType(text).isCard == isCard)
    }

    @Test(
        "A malformed content type is an error",
        arguments: [
            "", "text", "text/", "/vcard", "text/v card", "a/b; =c", "a/b; c=\"", "a/b;c=d e", "a/b;c=1;C=2",
            "a/b;c=\"d\"e",
        ])
    func malformedTypes(text: String) {
        #expect(throws: FieldError.malformed) { try MediaType(text) }
    }

    @Test("XML of clients is accepted, and a quoted parameter may contain a semicolon")
    func xmlTypes() throws {
        for text in ["application/xml; charset=\"utf-8\"", "text/xml", "application/xml; charset=UTF-8"] {
            #expect(try MediaType(text).isXML)
        }
        #expect(try MediaType("text/xml; charset=utf-16").isXML == false)
        #expect(try MediaType(#"a/b; c="d;\"e\\""#).parameters == ["c": #"d;"e\"#])
    }

    @Test("Basic credentials have a user and a password, which may have colons and any letters")
    func basic() throws {
        let credentials = try #require(BasicCredentials(authorization: "Basic YW5uOnNlOmNyZXQ="))
        #expect(credentials.user == "ann")
        #expect(credentials.password == Array("se:cret".utf8))
        #expect("\(credentials)" == "Basic credentials of ann")
        let umlaut = try #require(BasicCredentials(authorization: "basic  w6TDtjrDvA"))
        #expect(umlaut.user == "äö")
        #expect(umlaut.password == Array("ü".utf8))
        #expect(BasicCredentials(authorization: "Basic Og==")?.user == "")
    }

    @Test(
        "Anything else is no credentials",
        arguments: [
            "", "Basic", "Basic ", "Digest YW5uOnM=", "Basic YW5u", "Basic YW5uO=nM",
            "Basic YW5uOnM==",
            "Basic YW5uOnM=====", "Basic YW5u OnM=", "Basic YW5uOn-_", "Basic /zp4", "Basic YTpiAA==", "Basic YQo6Yg==",
            "Basic " + String(repeating: "YTph", count: 2_100),
        ])
    func noCredentials(text: String) {
        #expect(
            BasicCredentials(authorization: text).map { $0.user + ":" + String(decoding: $0.password, as: UTF8.self) }
                == nil)
    }
}
