/// One call of `io.contactbroker.Contacts`.
struct ProbeCall {
    let method: String
    /// A JSON object without line breaks.
    let parameters: String

    init(_ method: String, _ parameters: String) {
        self.method = method
        self.parameters = parameters
    }

    private static let names = #""keys":["givenName","familyName"]"#

    /// - Parameters:
    ///   - predicate: a JSON member, such as `"name":"Ada"`.
    ///   - order: the sort order.
    static func fetch(_ predicate: String, order: String = "none") -> ProbeCall {
        ProbeCall("FetchContacts", #"{"predicate":{\#(predicate)},\#(names),"sortOrder":"\#(order)"}"#)
    }

    /// The contact with its revision.
    static func revision(_ identifier: String) -> ProbeCall {
        ProbeCall(
            "FetchContacts", #"{"predicate":{\#(ProbeText.identifiers(identifier))},\#(names),"revisions":true}"#)
    }

    static func count(_ predicate: String) -> ProbeCall {
        ProbeCall("CountContacts", #"{"predicate":{\#(predicate)}}"#)
    }

    /// - Parameter changes: JSON objects with commas.
    static func save(_ changes: String) -> ProbeCall { ProbeCall("SaveContacts", #"{"changes":[\#(changes)]}"#) }

    /// A save about which the person is not asked.
    static func refusedSave(_ changes: String) -> ProbeCall {
        ProbeCall("SaveContacts", #"{"changes":[\#(changes)],"mayAsk":false}"#)
    }

    static func linked(_ identifier: String) -> ProbeCall {
        ProbeCall("ListLinkedContacts", #"{"identifier":"\#(identifier)"}"#)
    }

    static func container(of kind: String, _ identifier: String) -> ProbeCall {
        ProbeCall("ListContainers", #"{"\#(kind)":"\#(identifier)"}"#)
    }

    static func groups(_ identifier: String) -> ProbeCall {
        ProbeCall("ListGroups", #"{"identifiers":["\#(identifier)"]}"#)
    }

    /// - Parameter more: further members, each with a comma before it.
    static func history(_ token: String, _ more: String = "") -> ProbeCall {
        ProbeCall("FetchHistory", #"{"token":"\#(token)",\#(names)\#(more)}"#)
    }

    static func groups(in container: String) -> ProbeCall {
        ProbeCall("ListGroups", #"{"container":"\#(container)"}"#)
    }

    /// - Parameter cursor: the value of `next` in an earlier reply.
    static func page(after cursor: String) -> ProbeCall {
        ProbeCall("FetchContacts", #"{\#(names),"sortOrder":"none","limit":1,"after":"\#(cursor)"}"#)
    }

    static func button(_ query: String) -> ProbeCall { ProbeCall("RequestContacts", #"{"query":"\#(query)"}"#) }
}

/// The parameters of calls, as JSON.
enum ProbeText {
    static func identifiers(_ identifier: String) -> String { #""identifiers":["\#(identifier)"]"# }

    static func member(_ name: String, _ text: String) -> String { #""\#(name)":"\#(text)""# }

    /// - Parameter more: further members, each with a comma before it.
    static func add(given: String, family: String, _ more: String = "") -> String {
        #"{"operation":"add","contact":{"givenName":"\#(given)","familyName":"\#(family)"\#(more)}}"#
    }

    static func update(_ identifier: String, given: String) -> String {
        #"{"operation":"update","contact":{"identifier":"\#(identifier)","givenName":"\#(given)"}}"#
    }

    static func update(_ identifier: String, note: String) -> String {
        #"{"operation":"update","contact":{"identifier":"\#(identifier)","note":"\#(note)"}}"#
    }

    /// A change of a contact that must have a revision which no contact has.
    static func conditionalUpdate(_ identifier: String) -> String {
        #"{"operation":"update","unchangedSince":"\#(madeUpIdentifier())","#
            + #""contact":{"identifier":"\#(identifier)","givenName":"Ada"}}"#
    }

    static func delete(_ identifier: String) -> String {
        #"{"operation":"delete","contact":{"identifier":"\#(identifier)"}}"#
    }

    static func addContainer(_ name: String) -> String { #"{"operation":"addContainer","container":"\#(name)"}"# }

    static func deleteContainer(_ identifier: String) -> String {
        #"{"operation":"deleteContainer","container":"\#(identifier)"}"#
    }

    static func addGroup(_ name: String) -> String { #"{"operation":"add","group":{"name":"\#(name)"}}"# }

    static func deleteGroup(_ identifier: String) -> String {
        #"{"operation":"delete","group":{"identifier":"\#(identifier)","name":"x"}}"#
    }

    /// - Parameter operation: `addMember` or `removeMember`.
    static func membership(_ operation: String, of member: String, in group: String) -> String {
        #"{"operation":"\#(operation)","group":{"identifier":"\#(group)","name":"x"},"member":"\#(member)"}"#
    }

    static func link(_ identifier: String, _ member: String) -> String {
        #"{"operation":"link","contact":{"identifier":"\#(identifier)"},"member":"\#(member)"}"#
    }

    /// An identifier that never existed. The broker decrypts it to a valid one with a probability of 2^-64.
    static func madeUpIdentifier() -> String { digits(32) }

    static func digits(_ count: Int) -> String {
        String((0..<count).map { _ in "0123456789abcdef".randomElement() ?? "0" })
    }

    /// A word that no contact has by chance.
    static func word() -> String { String((0..<9).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a" }) }
}
