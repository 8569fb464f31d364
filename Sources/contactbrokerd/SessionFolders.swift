import BrokerInterface
import BrokerLedger
import BrokerPolicy
import BrokerVarlinkServer
import Glibc

/// Folders of a session's broker: sockets, databases and configuration.
struct SessionFolders {
    let runtime: String
    let state: String
    /// The broker only reads this folder and never creates it.
    let configuration: String

    /// Uses the folders from the command line. `nil` stands for the default folder below the XDG base
    /// directories.
    init(runtime: String?, state: String?, configuration: String?) throws {
        self.runtime = try Self.absolute(runtime) ?? Self.runtimeByDefault()
        self.state = try Self.absolute(state) ?? Self.stateByDefault()
        self.configuration = try Self.configuration(configuration)
    }

    /// - Parameter named: the folder from the command line, if any.
    static func configuration(_ named: String?) throws -> String {
        try absolute(named) ?? configurationByDefault()
    }

    private static func absolute(_ path: String?) throws -> String? {
        guard let path else { return nil }
        guard !path.isEmpty, !path.utf8.contains(0) else { throw Failure("could not start: a folder's name is empty") }
        if path.hasPrefix("/") { return path }
        guard let here = getcwd(nil, 0) else {
            throw Failure("could not start: the working directory no longer exists")
        }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }

    private static func runtimeByDefault() throws -> String {
        guard let folder = variable("XDG_RUNTIME_DIR") else {
            throw Failure(
                "could not start: XDG_RUNTIME_DIR is not set, so the sockets have no folder",
                tryThis: "contactbrokerd --session --runtime-dir FOLDER")
        }
        return folder + "/contactbroker"
    }

    private static func stateByDefault() throws -> String {
        if let folder = variable("XDG_STATE_HOME") { return folder + "/contactbroker" }
        guard let home = variable("HOME") else {
            throw Failure(
                "could not start: neither XDG_STATE_HOME nor HOME is set, so the databases have no folder",
                tryThis: "contactbrokerd --session --state-dir FOLDER")
        }
        return home + "/.local/state/contactbroker"
    }

    private static func configurationByDefault() throws -> String {
        if let folder = variable("XDG_CONFIG_HOME") { return folder + "/contactbroker" }
        guard let home = variable("HOME") else {
            // The rules may forbid something, so the broker must not start without them.
            throw Failure(
                "could not start: neither XDG_CONFIG_HOME nor HOME is set, so the policy cannot be found",
                tryThis: "contactbrokerd --session --config-dir FOLDER")
        }
        return home + "/.config/contactbroker"
    }

    /// Relative values are ignored, as the XDG Base Directory Specification requires.
    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return value
    }

    /// The folder that contains the interface's socket.
    func folder(of interface: ContactsInterface) -> String {
        switch interface {
        case .contacts: runtime + "/apps"
        case .agent: runtime + "/agent"
        case .admin: runtime + "/admin"
        case .cardDAV: runtime + "/carddav"
        }
    }

    /// The setting of a broker for the user who runs it.
    var setting: Setting {
        Setting(
            mode: .session, whom: "\(userName(getuid())) at \(runtime)", state: state,
            configuration: PolicyFolder(configuration: configuration),
            places: Dictionary(
                uniqueKeysWithValues: ContactsInterface.allCases.map { ($0, .path(socket(of: $0))) }))
    }

    func socket(of interface: ContactsInterface) -> String { folder(of: interface) + "/" + interface.name }

    /// Creates the folders for the databases and sockets, accessible only to this user. An existing folder
    /// must belong to this user, and no other user may be able to write to it.
    func make() throws {
        try Self.make(state)
        try Self.make(runtime)
        for interface in ContactsInterface.allCases { try Self.make(folder(of: interface)) }
    }

    private static func make(_ path: String) throws {
        var parent = ""
        for part in path.split(separator: "/") {
            parent += "/" + part
            guard mkdir(parent, 0o700) != 0, errno != EEXIST else { continue }
            guard errno != EISDIR else { continue }
            throw Failure(
                "could not start: cannot create the folder \(parent): \(String(cString: strerror(errno)))",
                tryThis: "name other folders with --runtime-dir and --state-dir")
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(
                "could not start: \(path) is not a folder, or is a link to one",
                tryThis: "name the folder itself with --runtime-dir or --state-dir")
        }
        guard status.st_uid == getuid(), status.st_mode & 0o022 == 0 else {
            throw Failure(
                "could not start: other users can change \(path)",
                tryThis: "it must be yours: chown \(getuid()) \(path) && chmod 0700 \(path)")
        }
        guard status.st_mode & 0o7777 == 0o700 || chmod(path, 0o700) == 0 else {
            throw Failure("could not start: \(path): \(String(cString: strerror(errno)))")
        }
    }
}
