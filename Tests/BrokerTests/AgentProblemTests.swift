import BrokerInterface
import BrokerVarlink
import Testing

@Suite("Problems that the broker names for agents")
struct AgentProblemTests {
    /// The words of an enumeration in the agent's interface.
    private func words(of type: String) throws -> [String] {
        let text = ContactsInterface.agent.description.text
        let place = try #require(text.firstRange(of: "type \(type) ("))
        let words = text[place.upperBound...].prefix { $0 != ")" }
        return words.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    @Test("The interface lists exactly the problems that the broker can name")
    func listed() throws {
        #expect(try words(of: "AnswerProblem") == AnswerProblem.allCases.map(\.rawValue))
        #expect(try words(of: "PasswordProblem") == PasswordProblem.allCases.map(\.rawValue))
        #expect(try words(of: "RowProblem") == RowProblem.allCases.map(\.rawValue))
    }
}
