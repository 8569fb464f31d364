import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write a backup of an address book and of the access that apps have to it.",
        discussion: """
            Needs your password. The file is encrypted with a passphrase, which age(1) asks for, or for recipients. The apps' \
            access and identifiers are restored only from a backup that is authentic: by the contact broker that made it, or \
            by root from a file encrypted with a passphrase. Only root can back up other users.
            """)

    @Argument(help: "The file to write. A file of this name is replaced.", completion: .file()) var file: String
    @Option(
        help: ArgumentHelp(
            "Encrypt for a recipient of age, such as age1…, instead of with a passphrase. Repeat it for several.",
            valueName: "recipient"))
    var recipient: [String] = []
    @Flag(help: "Do not encrypt.") var plain = false
    @Option(help: "Back up this user: a name or a UID.", completion: .words(Completions.users))
    var user: String?
    @Flag(help: "Back up all users, in one file.") var allUsers = false

    func validate() throws {
        if plain, !recipient.isEmpty { throw ValidationError("--plain and --recipient exclude each other") }
        if user != nil, allUsers { throw ValidationError("--user and --all-users exclude each other") }
    }

    private static let task = "make a backup"

    func run() throws {
        let client = try AdminClient(to: Self.task)
        let uids = allUsers ? try client.call("ListUsers")["users"]?.items.compactMap(\.uid) ?? [] : []
        let users = allUsers ? uids.map { .one($0, name: nil) } : [try UserName.users(user, to: Self.task)]
        let output = try OutputFile(at: file, to: Self.task, followsLink: false)
        var sink: BackupSink?
        var made: [BackupSection] = []
        for user in users {
            var section = BackupSection()
            try client.stream("BackUp", user.write) { reply in
                // age asks for the passphrase only after the contact broker has accepted the person's password.
                if sink == nil { sink = try BackupSink(output, plain ? nil : recipient, to: Self.task) }
                let lines = reply["lines"]?.items ?? []
                for line in lines { section.note(line) }
                try sink?.write(lines.map(\.text), code: reply["code"]?.string ?? "")
            }
            guard section.isComplete else {
                throw CommandFailure("could not \(Self.task): the contact broker sent only a part", .notTried)
            }
            made.append(section)
        }
        guard let sink else {
            throw CommandFailure("could not \(Self.task): there is nothing to back up", .refused)
        }
        try sink.finish()
        for section in made { print("saved \(section.words) to \(Speech.clean(file))") }
        for section in made where section.damaged > 0 {
            Speech.say(
                "\(Count.words(section.damaged, "contact")) of \(Speech.clean(section.user)) could not be read and "
                    + "\(section.damaged == 1 ? "is" : "are") missing")
        }
        if plain { Speech.say("the file is not encrypted: anyone who can read it can read the contacts") }
    }
}

/// Where a backup is written: the file, or the program that encrypts it into the file.
private final class BackupSink {
    private let output: OutputFile
    private let age: AgeProgram?
    private let task: String

    /// - Parameter recipients: `nil` for no encryption; none for a passphrase.
    init(_ output: OutputFile, _ recipients: [String]?, to task: String) throws {
        self.output = output
        self.task = task
        age = try recipients.map { try AgeProgram.encrypt(to: $0, into: output.fileDescriptor, to: task) }
    }

    /// Writes lines, and their code as a line of its own.
    func write(_ lines: [ArraySlice<UInt8>], code: String) throws {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(128) { $0 + $1.count + 1 })
        for line in lines {
            bytes += line
            bytes.append(0x0A)
        }
        bytes += BackupFile.codeLine(code)
        guard let age else { return try output.write(bytes) }
        guard OutputFile.write(bytes, to: age.descriptor) else { throw notEncrypted }
    }

    func finish() throws {
        if let age, !age.finish() { throw notEncrypted }
        try output.finish()
    }

    private var notEncrypted: CommandFailure {
        CommandFailure("could not \(task): age could not encrypt it, see above", .notTried)
    }
}
