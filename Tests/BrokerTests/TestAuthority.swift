import BrokerAccessControl
import BrokerVarlink
import Testing

/// An authority whose answers the test gives.
final class TestAuthority: Authority {
    /// One password request, and its state.
    final class Asked: AskedAuthority {
        let question: AuthorityQuestion
        fileprivate var answered: ((AuthorityAnswer) -> Void)?
        private(set) var isCancelled = false

        fileprivate init(_ question: AuthorityQuestion, _ answered: @escaping (AuthorityAnswer) -> Void) {
            self.question = question
            self.answered = answered
        }

        func cancel() { isCancelled = true }
    }

    var loop: TestLoop?
    private(set) var asked: [Asked] = []
    /// Answers that are given at once, by action.
    var automatic: [AuthorityAction: AuthorityAnswer] = [:]

    init(_ automatic: [AuthorityAction: AuthorityAnswer] = [:]) { self.automatic = automatic }

    func ask(
        _ question: AuthorityQuestion, _ answered: @escaping (AuthorityAnswer) -> Void
    ) -> any AskedAuthority {
        let one = Asked(question, answered)
        asked.append(one)
        if let answer = automatic[question.action] { say(answer, to: one) }
        return one
    }

    /// The password requests that are neither answered nor withdrawn.
    var open: [AuthorityQuestion] { asked.filter { $0.answered != nil && !$0.isCancelled }.map(\.question) }

    var actions: [AuthorityAction] { asked.map(\.question.action) }

    /// Answers the latest password request, and runs the loop. The request may be withdrawn before the answer arrives.
    func answer(_ answer: AuthorityAnswer) throws {
        let last = try #require(asked.last)
        say(answer, to: last)
        loop?.iterate()
    }

    private func say(_ answer: AuthorityAnswer, to asked: Asked) {
        guard let loop, let answered = asked.answered else { return }
        asked.answered = nil
        let bound = LoopBound({ answered(answer) }, loop: loop)
        loop.execute { bound.value() }
    }
}
