import BrokerCommandOutput
import BrokerJSON
import Glibc

/// What a backup has about one user, gathered from its lines.
struct BackupSection {
    private(set) var user = ""
    private(set) var time = ""
    private(set) var contacts = 0
    private(set) var apps = 0
    private(set) var damaged = 0
    private(set) var isComplete = false

    mutating func note(_ line: JSONValue) {
        if let header = line["backup"] {
            user = header["user"]?.string ?? ""
            time = header["time"]?.string ?? ""
        } else if line["card"] != nil {
            contacts += 1
        } else if let app = line["app"] {
            apps += app["grant"] == nil ? 0 : 1
        } else if let end = line["end"] {
            damaged = Int(end["damaged"]?.integer ?? 0)
            isComplete = true
        }
    }

    /// `3 contacts and the access of 2 apps of alice`.
    var words: String {
        let access = apps == 0 ? "" : " and the access of \(Count.words(apps, "app"))"
        return "\(Count.words(contacts, "contact"))\(access) of \(Speech.clean(user))"
    }
}

/// A file with a backup: lines of JSON. Each piece that the broker sent ends with a line that contains its code.
final class BackupFile {
    /// Lines that belong together, and their code.
    struct Piece {
        var lines: [[UInt8]] = []
        var code = ""
    }

    enum Kind: Hashable {
        case plain
        /// Encrypted with a passphrase. Only somebody who knows it can have made the file.
        case passphrase
        /// Encrypted for recipients. Everybody who knows a recipient can have made the file.
        case recipients
    }

    let kind: Kind
    private let task: String
    private let file: CInt
    private let age: AgeProgram?
    /// What was read of the file. The lines before `start` were returned.
    private var read: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private var isFirst = true

    /// The largest line: a contact with its photo. The contact broker accepts no longer one.
    private static let longestLine = 16 * 1_048_576

    /// - Parameter identities: files with private keys for age.
    init(_ path: String, identities: [String], to task: String) throws {
        self.task = task
        // Without O_NONBLOCK, a pipe would wait for a writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw OutputFile.failure(task, path, errno) }
        self.file = file
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw CommandFailure("could not \(task): \(Speech.clean(path)): not a file", .notTried)
        }
        kind = Self.kind(of: file)
        do {
            switch kind {
            case .plain: age = nil
            case .recipients where identities.isEmpty:
                throw CommandFailure(
                    "could not \(task): \(Speech.clean(path)) is encrypted for a recipient",
                    try: "name the file with the private key: --identity FILE", .notTried)
            case .passphrase: age = try AgeProgram.decrypt(file, with: [], to: task)
            case .recipients: age = try AgeProgram.decrypt(file, with: identities, to: task)
            }
        } catch {
            close(file)
            throw error
        }
    }

    deinit { close(file) }

    private static func kind(of file: CInt) -> Kind {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(file, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        if text.hasPrefix("age-encryption.org/v1\n-> scrypt ") { return .passphrase }
        return text.hasPrefix("age-encryption.org/") || text.hasPrefix("-----BEGIN AGE") ? .recipients : .plain
    }

    static func codeLine(_ code: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.member("code", code) }
        return writer.bytes + [0x0A]
    }

    /// Returns the next piece; `nil` at the end of the file. At the end, throws if the file could not be decrypted.
    func next() throws -> Piece? {
        var piece = Piece()
        defer { isFirst = false }
        while let line = try nextLine() {
            if isFirst, piece.lines.isEmpty, !line.starts(with: Self.start) { throw Self.isNone(task) }
            guard !line.starts(with: Self.codeStart) else {
                guard let code = try? JSONDocument(parsing: line).root["code"]?.string else { throw Self.isNone(task) }
                piece.code = code
                return piece
            }
            piece.lines.append(line)
        }
        guard piece.lines.isEmpty else {
            throw CommandFailure("could not \(task): the end of the backup is missing", .notTried)
        }
        if let age, !age.finish() { throw notDecrypted }
        return nil
    }

    private static let start = Array(#"{"backup":"#.utf8)
    private static let codeStart = Array(#"{"code":"#.utf8)

    private func nextLine() throws -> [UInt8]? {
        while true {
            if let end = read[start...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return Array(read[start..<end])
            }
            read.removeFirst(start)
            start = 0
            guard !isAtEnd else {
                defer { read = [] }
                return read.isEmpty ? nil : read
            }
            guard read.count <= Self.longestLine else { throw Self.isNone(task) }
            var bytes = [UInt8](repeating: 0, count: 1_048_576)
            let count = Glibc.read(age?.descriptor ?? file, &bytes, bytes.count)
            guard count >= 0 || errno == EINTR else { throw OutputFile.failure(task, "the backup", errno) }
            isAtEnd = count == 0
            if count > 0 { read += bytes[..<count] }
        }
    }

    /// The error for a file that is no backup.
    static func isNone(_ task: String) -> CommandFailure {
        CommandFailure("could not \(task): the file is not a backup", .notTried)
    }

    private var notDecrypted: CommandFailure {
        CommandFailure("could not \(task): age could not decrypt the file, see above", .notTried)
    }
}
