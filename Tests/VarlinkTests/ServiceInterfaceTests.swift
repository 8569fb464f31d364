import BrokerJSON
import BrokerVarlink
import Testing

/// A connection that stores the frames it is to send.
private final class Recorder: Connection {
    var context: AnyObject?
    var isClosed = false
    var sent: [String] = []

    func send(_ reply: Reply, for call: Call) {
        switch reply {
        case .parameters(let bytes, _, _): sent.append(String(decoding: bytes, as: UTF8.self))
        case .error(let error): sent.append("\(error.name) \(String(decoding: error.parameters, as: UTF8.self))")
        }
    }
    func whenWritable(_ body: @escaping () -> Void) { body() }
    func withdraw(_ error: VarlinkError) -> Int { 0 }
    func close() { isClosed = true }
}

@Suite("The interface org.varlink.service")
struct ServiceInterfaceTests {
    static let text = """
        interface org.example.Test
        method Ask(what: string) -> ()
        # [Requires 'more' flag]
        method Watch() -> ()

        """

    private func service() throws -> ServiceInterface {
        try ServiceInterface(
            vendor: "V", product: "P", version: "1", url: "https://example.org",
            interfaces: [InterfaceDescription(name: "org.example.Test", text: Self.text)])
    }

    /// The reply; `nil` if the call is left to the interface's implementation.
    private func answer(_ method: String, _ parameters: String = "{}", more: Bool = false) throws -> String? {
        let recorder = Recorder()
        let value = try JSONDocument(parsing: Array(parameters.utf8)).root
        let call = Call(method: method, parameters: value, more: more, oneway: false, connection: recorder)
        guard try service().answer(call) else {
            #expect(recorder.sent.isEmpty && !call.isOver)
            return nil
        }
        #expect(recorder.sent.count == 1)
        return recorder.sent.first
    }

    @Test("GetInfo returns vendor, product and interfaces")
    func info() throws {
        #expect(
            try answer("org.varlink.service.GetInfo")
                == #"{"vendor":"V","product":"P","version":"1","url":"https://example.org","interfaces":["org.varlink.service","org.example.Test"]}"#
        )
    }

    @Test(
        "GetInterfaceDescription returns the interface's text unchanged",
        arguments: ["org.example.Test", "org.varlink.service"])
    func description(name: String) throws {
        let reply = try #require(
            try answer("org.varlink.service.GetInterfaceDescription", #"{"interface":"\#(name)"}"#))
        let value = try JSONDocument(parsing: Array(reply.utf8)).root
        let text = name == "org.example.Test" ? Self.text : ServiceInterface.description.text
        #expect(value["description"]?.string == text)
    }

    @Test(
        "Unknown interfaces and methods are Varlink errors",
        arguments: [
            (
                "org.varlink.service.GetInterfaceDescription", #"{"interface":"a.b"}"#, "InterfaceNotFound",
                #"{"interface":"a.b"}"#
            ),
            ("org.varlink.service.GetInterfaceDescription", "{}", "InvalidParameter", #"{"parameter":"interface"}"#),
            (
                "org.varlink.service.GetInterfaceDescription", #"{"interface":1}"#, "InvalidParameter",
                #"{"parameter":"interface"}"#
            ),
            ("org.varlink.service.GetInfo", #"{"x":1}"#, "InvalidParameter", #"{"parameter":"x"}"#),
            ("org.varlink.service.Nothing", "{}", "MethodNotFound", #"{"method":"org.varlink.service.Nothing"}"#),
            ("org.example.Test.Nothing", "{}", "MethodNotFound", #"{"method":"org.example.Test.Nothing"}"#),
            ("org.example.Other.Ask", "{}", "InterfaceNotFound", #"{"interface":"org.example.Other"}"#),
            ("org.example.Test.Watch", "{}", "ExpectedMore", "{}"),
        ])
    func errors(method: String, parameters: String, error: String, told: String) throws {
        #expect(try answer(method, parameters) == "org.varlink.service.\(error) \(told)")
    }

    @Test("Calls to known interfaces are left to their implementations")
    func others() throws {
        #expect(try answer("org.example.Test.Ask", #"{"anything":1}"#) == nil)
        #expect(try answer("org.example.Test.Watch", more: true) == nil)
    }

    @Test("An interface whose text names another interface, or none, is refused at startup")
    func wrongText() {
        for text in ["interface org.example.Other", "no interface"] {
            #expect(throws: InterfaceError.self) {
                try ServiceInterface(
                    vendor: "", product: "", version: "", url: "",
                    interfaces: [InterfaceDescription(name: "org.example.Test", text: text)])
            }
        }
    }
}

@Suite("Answering a call")
struct CallTests {
    private func call(_ recorder: Recorder, more: Bool = false) -> Call {
        Call(
            method: "a.b.C", parameters: JSONDocument.emptyObject.root, more: more, oneway: false, connection: recorder)
    }

    @Test("A call is answered once")
    func once() {
        let recorder = Recorder()
        let call = call(recorder)
        call.reply { $0.member("n", 1) }
        call.reply { $0.member("n", 2) }
        call.fail(.permissionDenied)
        #expect(recorder.sent == [#"{"n":1}"#])
        #expect(call.isOver)
        #expect(call.name == "C" && call.interface == "a.b")
    }

    @Test("A call with `more` ends with the first reply without `continues`")
    func more() {
        let recorder = Recorder()
        let call = call(recorder, more: true)
        call.reply(continues: true) { $0.member("n", 1) }
        #expect(!call.isOver)
        call.reply { $0.member("n", 2) }
        call.reply(continues: true) { $0.member("n", 3) }
        #expect(recorder.sent.count == 2)
    }

    @Test("The abandonment handler runs once if the caller goes away, and not after a reply")
    func abandoned() {
        let recorder = Recorder()
        var heard = 0
        let gone = call(recorder)
        gone.onAbandoned = { heard += 1 }
        gone.abandon()
        gone.abandon()
        gone.reply { _ in }
        #expect(heard == 1 && recorder.sent.isEmpty)

        let answered = call(recorder)
        answered.onAbandoned = { heard += 1 }
        answered.reply { _ in }
        answered.abandon()
        #expect(heard == 1)
    }
}
