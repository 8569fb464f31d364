import BrokerFormatting
import BrokerVarlinkClient

/// The list of grants on the main screen. A number opens one app.
extension Agent {
    /// Lists the next page of apps; after the last page, the first page again.
    func listGrants() {
        guard let connection, connection.isRegistered else {
            terminal.say(.warning(names.text(.brokerUnreachable)))
            return
        }
        do throws(VarlinkClientError) {
            let (grants, areRefused) = try connection.listGrants()
            let start = listed.endIndex < grants.count ? listed.endIndex : 0
            listed = grants[start...].prefix(GrantsTable.page)
            let columns = (terminal.size?.columns ?? 80) - 1
            for line in GrantsTable.lines(listed, columns: columns, names) { terminal.say(line) }
            if areRefused { terminal.say(.warning(names.text(.everyAppRefused))) }
            if !listed.isEmpty {
                let next = names.text(.nextOf, [.total: String(grants.count)])
                let more = listed.endIndex < grants.count ? "  [l] \(next)" : ""
                terminal.say(.dim("[1–\(listed.count)] \(names.text(.lookThrough))\(more)"))
            }
        } catch {
            guard case .error = error else { return lost("\(error)") }
            terminal.say(.warning(names.text(.listFailed, [.reason: ShownText.line("\(error)")])))
        }
        sayWaiting()
    }

    /// Opens the dialogue that manages the grant with this number in the list.
    func openGrant(_ number: Int) {
        guard let connection, (1...max(1, listed.count)).contains(number), !listed.isEmpty else { return }
        let grant = listed[listed.startIndex + number - 1]
        do throws(VarlinkClientError) {
            guard let prompt = try connection.manage(grant) else {
                return terminal.say(.warning(names.text(.answerUnreadable)))
            }
            queue.insert(prompt, at: 0)
        } catch {
            guard case .error = error else { return lost("\(error)") }
            let app = ShownText.quoted(grant.displayName, columns: 32)
            terminal.say(.warning(names.text(.nothingAnyMore, [.app: app])))
        }
    }
}
