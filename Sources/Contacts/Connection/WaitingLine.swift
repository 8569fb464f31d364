import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation
import Synchronization

/// The line on a terminal that says that a call waits for the person. One object belongs to one call, and writes at
/// most one line.
///
/// The broker has at most one prompt of an app open at a time, which all calls of the app share. While the line of one
/// call applies, the other calls of the process therefore write none.
final class WaitingLine {
    /// Whether the app wants the line: ``CNContactStore/announcesWaiting``.
    static let isWanted = Atomic(true)
    private static let isShown = Atomic(false)
    /// The time that a call may take before the line appears.
    private static let patience = Duration.milliseconds(500)
    /// The maximum time to wait for the broker's reply to the question whether the person has decided.
    private static let checkTime = Duration.seconds(1)
    private static let text = "Waiting for your answer: open contact-agent in another terminal.\n"

    private let method: ContactsMethod
    /// When to write the line; `nil` if the line is written, or if the first reply has arrived.
    private var due: ContinuousClock.Instant?
    private var isMine = false

    /// Creates the line of a call that was just sent.
    init(for method: ContactsMethod) {
        self.method = method
        due = method.prompting == .never ? nil : ContinuousClock.now + Self.patience
    }

    deinit {
        if isMine { Self.isShown.store(false, ordering: .relaxed) }
    }

    /// Waits for a reply with `next`, which takes the time that it may wait and returns `nil` if none arrives. Writes
    /// the line if it is due meanwhile.
    func wait<Reply>(
        within time: Duration, _ next: (Duration) throws(VarlinkClientError) -> Reply?
    ) throws(VarlinkClientError) -> Reply? {
        let end = ContinuousClock.now + time
        if let due, due < end {
            let reply = try next(max(.zero, ContinuousClock.now.duration(to: due)))
            self.due = nil
            if let reply { return reply }
            show()
        }
        let reply = try next(max(.zero, ContinuousClock.now.duration(to: end)))
        if reply != nil { due = nil }
        return reply
    }

    private func show() {
        guard Self.isWanted.load(ordering: .relaxed), isatty(STDERR_FILENO) == 1, isPromptLikely,
            !Self.isShown.exchange(true, ordering: .relaxed)
        else { return }
        isMine = true
        // A terminal takes the whole line at once. If it cannot, the rest is lost: the call matters more than the line.
        let bytes = Array(Self.text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Whether the call waits for the person, and not for a busy broker.
    private var isPromptLikely: Bool {
        if method.prompting == .always { return true }
        let reply = WaitBudget.with(WaitBudget(Self.checkTime)) { try? BrokerCalls.shared.call(.getAuthorization) }
        let mayChangeAll = reply?["changes"]?.says("all") == true
        return reply?["status"]?.says("notDetermined") == true
            || method == .saveContacts && reply != nil && !mayChangeAll
    }
}

extension ContactsMethod {
    fileprivate enum Prompting {
        case never
        /// The method needs access, and prompts if the person has not decided on it.
        case ifUndecided
        /// The broker replies only after a prompt, or without delay.
        case always
    }

    fileprivate var prompting: Prompting {
        switch self {
        case .getAuthorization, .getUserDefaults, .watchChanges, .updateRequest: .never
        case .fetchContacts, .countContacts, .saveContacts, .listLinkedContacts, .setUserDefaults, .listContainers,
            .listGroups, .fetchHistory, .listSaves, .takeBack:
            .ifUndecided
        case .requestAccess, .requestContacts, .manageAccess, .pickContacts, .proposeContact: .always
        }
    }
}
