import BrokerVarlink

extension Certification {
    /// The parameters that a client must send besides its name, and the reply.
    struct Step {
        let method: String
        let wants: String
        let reply: String
        let next: String
    }

    private static let several = #""bool":false,"int":2,"float":3.141592653589793,"string":"a lot of string""#
    private static let map = #""map":{"foo":"Foo","bar":"Bar"}"#
    private static let set = #""set":{"one":{},"two":{},"three":{}}"#
    private static let myType = """
        "mytype":{"object":{"method":"org.varlink.certification.Test09","parameters":{\(map)}},"enum":"two",\
        "struct":{"first":1,"second":"2"},"array":["one","two","three"],"dictionary":{"foo":"Foo","bar":"Bar"},\
        "stringset":{"one":{},"two":{},"three":{}},"nullable":null,"nullable_array_struct":null,\
        "interface":{"foo":[null,{"foo":"foo","bar":"bar"},null,{"one":"foo","two":"bar"}],\
        "anon":{"foo":true,"bar":false}}}
        """
    private static let replies = (1...10).map { #""Reply number \#($0)""# }.joined(separator: ",")

    static let steps = [
        Step(method: "Test01", wants: "{}", reply: #"{"bool":true}"#, next: "Test02"),
        Step(method: "Test02", wants: #"{"bool":true}"#, reply: #"{"int":1}"#, next: "Test03"),
        Step(method: "Test03", wants: #"{"int":1}"#, reply: #"{"float":1.0}"#, next: "Test04"),
        Step(method: "Test04", wants: #"{"float":1.0}"#, reply: #"{"string":"ping"}"#, next: "Test05"),
        Step(method: "Test05", wants: #"{"string":"ping"}"#, reply: "{\(several)}", next: "Test06"),
        Step(method: "Test06", wants: "{\(several)}", reply: #"{"struct":{\#(several)}}"#, next: "Test07"),
        Step(method: "Test07", wants: #"{"struct":{\#(several)}}"#, reply: "{\(map)}", next: "Test08"),
        Step(method: "Test08", wants: "{\(map)}", reply: "{\(set)}", next: "Test09"),
        Step(method: "Test09", wants: "{\(set)}", reply: "{\(myType)}", next: "Test10"),
        Step(method: "Test10", wants: "{\(myType)}", reply: "{}", next: "Test11"),
        Step(method: "Test11", wants: #"{"last_more_replies":[\#(replies)]}"#, reply: "{}", next: "End"),
        Step(method: "End", wants: "{}", reply: #"{"all_ok":true}"#, next: "Start"),
    ]

    /// The Varlink project defines the interface; the client reads it before it calls.
    static let interface = InterfaceDescription(
        name: "org.varlink.certification",
        text: """
            # Each call passes on what the call before it returned.
            interface org.varlink.certification

            type Interface (foo: ?[]?[string](foo, bar, baz), anon: (foo: bool, bar: bool))

            type MyType (
              object: object,
              enum: (one, two, three),
              struct: (first: int, second: string),
              array: []string,
              dictionary: [string]string,
              stringset: [string](),
              nullable: ?string,
              nullable_array_struct: ?[](first: int, second: string),
              interface: Interface
            )

            method Start() -> (client_id: string)
            method Test01(client_id: string) -> (bool: bool)
            method Test02(client_id: string, bool: bool) -> (int: int)
            method Test03(client_id: string, int: int) -> (float: float)
            method Test04(client_id: string, float: float) -> (string: string)
            method Test05(client_id: string, string: string) -> (bool: bool, int: int, float: float, string: string)
            method Test06(client_id: string, bool: bool, int: int, float: float, string: string) -> (struct: (bool: bool, int: int, float: float, string: string))
            method Test07(client_id: string, struct: (bool: bool, int: int, float: float, string: string)) -> (map: [string]string)
            method Test08(client_id: string, map: [string]string) -> (set: [string]())
            method Test09(client_id: string, set: [string]()) -> (mytype: MyType)

            # [Requires 'more' flag]
            method Test10(client_id: string, mytype: MyType) -> (string: string)

            # A oneway call.
            method Test11(client_id: string, last_more_replies: []string) -> ()
            method End(client_id: string) -> (all_ok: bool)

            error ClientIdError ()
            error CertificationError (wants: object, got: object)

            """)
}
