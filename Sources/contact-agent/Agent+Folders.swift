import BrokerFormatting
import BrokerVarlinkClient
import Glibc

/// The screen of declared folders.
extension Agent {
    /// Opens the screen, if the broker knows declared folders.
    func openFolders() {
        askAboutFolders { connection throws(VarlinkClientError) in
            self.home.folders = FoldersScreen(
                try connection.listFolders(), workingFolder: Self.workingFolder, self.names)
        }
    }

    func follow(_ action: FoldersScreen.Action) {
        switch action {
        case .close: home.folders = nil
        case .tooEarly: say(.dim(names.text(.tooSoon)))
        case .check(let path):
            guard connection != nil else { return }
            call { connection throws(VarlinkClientError) in
                home.folders?.found(try connection.declareFolder(path, checkOnly: true))
            } orRefused: {
                home.folders?.refused(path, names.text(.notTaken, [.reason: names.words(for: $0)]))
            }
        case .declare(let folder):
            askAboutFolders { connection throws(VarlinkClientError) in
                let declared = try connection.declareFolder(folder.path)
                let time = self.names.day(declared.ends)
                self.say(StyledLine(self.names.text(.folderDeclared, [.time: time, .path: self.shown(declared)])))
                self.home.folders?.list(try connection.listFolders())
            }
        case .end(let folder):
            askAboutFolders { connection throws(VarlinkClientError) in
                try connection.endFolder(folder)
                self.say(StyledLine(self.names.text(.folderEnded, [.path: self.shown(folder)])))
                self.home.folders?.list(try connection.listFolders())
            }
        }
    }

    /// An error reply is shown on the main screen.
    private func askAboutFolders(_ body: (AgentConnection) throws(VarlinkClientError) -> Void) {
        call(body) {
            home.folders = nil
            say(.warning(names.text(.notTaken, [.reason: names.words(for: $0)])))
        }
        isHomeChanged = true
    }

    private func shown(_ folder: DeclaredFolder) -> String {
        names.isolated(Columns.clipMiddle(ShownText.line(folder.path), to: 48))
    }

    private static var workingFolder: String {
        guard let path = getcwd(nil, 0) else { return "" }
        defer { free(path) }
        return String(validatingCString: path) ?? ""
    }
}
