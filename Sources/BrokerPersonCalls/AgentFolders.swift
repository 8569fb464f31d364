import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink
import Dispatch

/// Declares folders for the person, through the agent.
struct AgentFolders: UsesServices {
    let services: BrokerServices

    /// A file server may not answer, so a folder is inspected off the event loop, one after the other.
    private static let queue = DispatchQueue(label: "folders")

    func declare(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try DeclareFolderParameters(call.parameters)
        _ = try prompts.agent(parameters.agent, of: session)
        let inspect = try inspection()
        let uid = session.caller.uid
        surroundings.loop.run(on: Self.queue) { () throws(FolderProblem) -> FoundFolder in
            try inspect(parameters.path, uid)
        } then: { result in
            guard !call.isOver else { return }
            switch result {
            case .failure(let problem): call.fail(Self.error(problem))
            case .success(let found): declare(found, parameters, call, session)
            }
        }
    }

    private func declare(
        _ found: FoundFolder, _ parameters: DeclareFolderParameters, _ call: Call, _ session: CallerSession
    ) {
        let uid = session.caller.uid
        let present = folders.present(of: uid)
        guard present.contains(where: { $0.path == found.path }) || present.count < services.limits.declaredFolders
        else { return call.fail(Self.error(.tooMany)) }
        let folder = folders.declaration(of: found, by: uid)
        if parameters.checkOnly { return call.reply { Self.write(folder, &$0) } }
        // The person confirms the path that the broker reported. A link could have changed since.
        guard found.path == parameters.path else { return call.fail(Self.error(.notFound)) }
        folders.declare(folder, by: session) { isDeclared in
            guard isDeclared else { return call.fail(Self.error(.notRecorded)) }
            call.reply { Self.write(folder, &$0) }
        }
    }

    func list(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 1, let token = call.parameters["agent"]?.identifier() else {
            throw .invalidParameter("agent")
        }
        _ = try prompts.agent(token, of: session)
        _ = try inspection()
        let present = folders.present(of: session.caller.uid)
        call.reply {
            $0.name("folders")
            $0.array(present) { writer, folder in writer.object { Self.describe(folder, &$0) } }
        }
    }

    func end(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try EndFolderParameters(call.parameters)
        _ = try prompts.agent(parameters.agent, of: session)
        _ = try inspection()
        guard let folder = access.declarations.folder(at: parameters.path, of: session.caller.uid) else {
            throw Self.error(.notFound)
        }
        folders.end(folder, "ended, " + AnswerSource(session).words)
        groupCommit.work(
            committed: { [groupCommit] in
                groupCommit.sync.onDisk { $0 ? call.reply() : call.fail(Self.error(.notRecorded)) }
            }, failed: { call.fail(Self.error(.notRecorded)) })
    }

    /// - Throws: in system mode.
    private func inspection() throws(VarlinkError) -> Surroundings.InspectFolder {
        guard surroundings.mode == .session, let inspect = surroundings.inspectFolder else {
            throw Self.error(.sessionOnly)
        }
        return inspect
    }

    private static func write(_ folder: DeclaredFolder, _ writer: inout JSONWriter) {
        writer.name("folder")
        writer.object { describe(folder, &$0) }
    }

    private static func describe(_ folder: DeclaredFolder, _ writer: inout JSONWriter) {
        writer.member("path", folder.path)
        writer.member("ends", Timestamp.text(seconds: folder.ends))
    }

    private static func error(_ problem: FolderProblem) -> VarlinkError {
        AgentError.invalidFolder(problem, problem.words)
    }
}

extension FolderProblem {
    /// The problem in English.
    fileprivate var words: String {
        switch self {
        case .sessionOnly: "folders can be declared only at a broker in session mode"
        case .notAbsolute: "the path must begin with / or ~/"
        case .notFound: "there is no such folder"
        case .notAFolder: "this is not a folder"
        case .notOwned: "the folder belongs to another user"
        case .writableByOthers: "other users may write into the folder; run chmod go-w on it, then retry"
        case .tooWide: "the folder contains the home folder; declare the folder of one project"
        case .unsupported:
            "the file system does not record when a folder was created, or the path has unusual characters"
        case .tooMany: "too many folders are declared; end one of them, then retry"
        case .notRecorded: "the declaration could not be recorded, so it has no effect"
        }
    }
}
