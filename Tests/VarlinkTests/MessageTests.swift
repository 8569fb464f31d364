import BrokerJSON
import BrokerVarlink
import Testing

private func call(_ text: String) throws -> CallFrame { try CallFrame(parsing: Array(text.utf8)) }
private func reply(_ text: String) throws -> ReplyFrame { try ReplyFrame(parsing: Array(text.utf8)) }

@Suite("Reading calls and replies")
struct MessageTests {
    @Test(
        "No parameters, null and an empty object are the same",
        arguments: [#"{"method":"a.B"}"#, #"{"method":"a.B","parameters":null}"#, #"{"parameters":{},"method":"a.B"}"#])
    func emptyParameters(text: String) throws {
        let call = try call(text)
        #expect(call.method == "a.B")
        #expect(call.parameters.kind == .object)
        #expect(call.parameters.count == 0)
    }

    @Test("Flags count when true; absent, null and false are the same")
    func flags() throws {
        for text in [
            "", #","more":false,"oneway":false,"upgrade":false"#, #","more":null,"oneway":null,"upgrade":null"#,
        ] {
            let call = try call(#"{"method":"a.B"\#(text)}"#)
            #expect(!call.more && !call.oneway && !call.upgrade)
        }
        #expect(try call(#"{"method":"a.B","more":true}"#).more)
        #expect(try call(#"{"method":"a.B","oneway":true}"#).oneway)
        #expect(try call(#"{"method":"a.B","upgrade":true}"#).upgrade)
    }

    @Test(
        "A text that is not a call is refused",
        arguments: [
            "", "[]", "null", #""a.B""#, "{}", #"{"parameters":{}}"#, #"{"method":null}"#, #"{"method":1}"#,
            #"{"method":""}"#, #"{"method":"Name"}"#, #"{"method":"a."}"#, #"{"method":".B"}"#, #"{"method":"a..B"}"#,
            #"{"method":"a.B c"}"#, #"{"method":"a.é"}"#, #"{"method":"a.B","parameters":[]}"#,
            #"{"method":"a.B","parameters":"x"}"#, #"{"method":"a.B","more":1}"#, #"{"method":"a.B","oneway":"true"}"#,
            #"{"method":"a.B","upgrade":{}}"#, #"{"method":"a.B","extra":1}"#, #"{"method":"a.B","method":"a.B"}"#,
            #"{"method":"a.B","more":true,"oneway":true}"#, #"{"method":"a.B"}x"#,
        ])
    func noCall(text: String) {
        #expect(throws: MessageError.self) { try call(text) }
    }

    @Test("A method's name may be as long as the limit and no longer")
    func methodLength() throws {
        let longest = "a." + String(repeating: "B", count: 510)
        #expect(try call(#"{"method":"\#(longest)"}"#).method == longest)
        #expect(throws: MessageError.malformed(member: "method")) { try call(#"{"method":"\#(longest)B"}"#) }
    }

    @Test("A written call is read back unchanged", arguments: [(false, false), (true, false), (false, true)])
    func roundTrip(more: Bool, oneway: Bool) throws {
        let frame = CallFrame.encode("a.b.C", parameters: Array(#"{"x":[1]}"#.utf8), more: more, oneway: oneway)
        #expect(frame.last == 0)
        let call = try CallFrame(parsing: frame.dropLast())
        #expect(call.method == "a.b.C")
        #expect(call.parameters["x"]?.count == 1)
        #expect(call.more == more && call.oneway == oneway)
    }

    @Test("A written reply is read back unchanged", arguments: [true, false])
    func replies(continues: Bool) throws {
        var bytes: [UInt8] = []
        ReplyFrame.append(parameters: Array(#"{"x":1}"#.utf8), continues: continues, to: &bytes)
        #expect(bytes.last == 0)
        let reply = try ReplyFrame(parsing: bytes.dropLast())
        #expect(reply.parameters["x"]?.integer == 1)
        #expect(reply.continues == continues)
        #expect(reply.error == nil)
    }

    @Test("A written error is read back unchanged")
    func errors() throws {
        var bytes: [UInt8] = []
        ReplyFrame.append(.invalidParameter("keys"), to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"keys"}}"# + "\0")
        let reply = try ReplyFrame(parsing: bytes.dropLast())
        #expect(reply.error == "org.varlink.service.InvalidParameter")
        #expect(!reply.continues)
    }

    @Test(
        "A text that is not a reply is refused",
        arguments: [
            "[]", #"{"parameters":1}"#, #"{"continues":1}"#, #"{"error":""}"#, #"{"error":1}"#, #"{"other":1}"#,
            #"{"error":"a.B","continues":true}"#,
        ])
    func noReply(text: String) {
        #expect(throws: MessageError.self) { try reply(text) }
    }
}

extension CallFrame {
    fileprivate init(parsing frame: ArraySlice<UInt8>) throws(MessageError) { try self.init(parsing: Array(frame)) }
}

extension ReplyFrame {
    fileprivate init(parsing frame: ArraySlice<UInt8>) throws(MessageError) { try self.init(parsing: Array(frame)) }
}
