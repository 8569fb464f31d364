import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

/// The options that name the users whose grants a command reads or changes.
struct UserOptions: ParsableArguments {
    @Option(
        help: "Concern this user: a name or a UID. Needs an administrator's password, or root.",
        completion: .words(Completions.users))
    var user: String?
    @Flag(help: "Concern all users. Needs an administrator's password, or root.") var allUsers = false

    func validate() throws {
        if user != nil, allUsers { throw ValidationError("--user and --all-users exclude each other") }
    }

    /// - Parameter task: the command's task, phrased to follow `could not`.
    func users(to task: String) throws -> Users {
        allUsers ? .all : try UserName.users(user, to: task)
    }

    func open(to task: String) throws -> (users: Users, client: AdminClient) {
        (try users(to: task), try AdminClient(to: task))
    }
}

/// The users whom a command concerns.
enum Users: Hashable {
    case own
    case one(UInt32, name: String?)
    case all

    var isOwn: Bool { self == .own }
    var isAll: Bool { self == .all }

    /// Writes the parameters of a call on the administrator's socket.
    func write(_ writer: inout JSONWriter) {
        switch self {
        case .own: break
        case .one(let uid, _): writer.member("uid", uid)
        case .all: writer.member("allUsers", true)
        }
    }

    /// For messages: `alice`, `user 1001`; `nil` for oneself.
    var name: String? {
        switch self {
        case .own: nil
        case .one(let uid, let name): name.map(Speech.clean) ?? "user \(uid)"
        case .all: "all users"
        }
    }

    /// `for alice`, to append to a message; empty for oneself.
    var suffix: String { name.map { " for \($0)" } ?? "" }

    /// The option that names the users to another command, after a space; empty for oneself.
    var option: String {
        switch self {
        case .own: ""
        case .one(let uid, let name): " --user \(name.map { ShellWord.quoted(Speech.clean($0)) } ?? "\(uid)")"
        case .all: " --all-users"
        }
    }

    /// The same about one grant: with all users it names the grant's user.
    func suffix(_ uid: UInt32) -> String { isAll ? " for \(UserName.text(uid))" : suffix }

    /// The column of a table that names each row's user; none if the rows are of one user.
    var columns: [Table.Column] { isAll ? [Table.Column("USER", narrowest: 6)] : [] }

    /// The cell in ``columns``.
    func cells(_ uid: UInt32) -> [String] { isAll ? [UserName.text(uid)] : [] }
}

/// Users' names and UIDs.
enum UserName {
    /// Returns the user's name, or `user 1001` if the UID has none.
    static func text(_ uid: UInt32) -> String { name(uid).map(Speech.clean) ?? "user \(uid)" }

    // The non-reentrant functions of passwd(5) are safe here, because nothing else looks up users at the same time,
    // and the results are copied at once.
    private static func name(_ uid: UInt32) -> String? { getpwuid(uid)?.pointee.pw_name.map { String(cString: $0) } }

    /// - Parameter user: what the option `--user` names; `nil` if it is absent.
    static func users(_ user: String?, to task: String) throws -> Users {
        guard let user else { return .own }
        let (uid, name) = try resolve(user, to: task)
        return uid == getuid() ? .own : .one(uid, name: name)
    }

    /// Interprets a number as a UID, even if no user has it, and any other text as a user name.
    static func resolve(_ user: String, to task: String) throws -> (uid: UInt32, name: String?) {
        if let uid = UInt32(user), uid != .max { return (uid, name(uid)) }
        guard !user.utf8.contains(0), let uid = getpwnam(user)?.pointee.pw_uid else {
            throw CommandFailure(
                "could not \(task): no user is called \(Speech.clean(user))",
                try: "use a UID for a user who was removed: ls /var/lib/contactbroker/users", .refused)
        }
        return (uid, user)
    }
}
