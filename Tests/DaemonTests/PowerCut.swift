import Glibc

/// Ends a program after one of its operations on the files below a folder (Tests/Support/PowerCut/powercut.c).
final class PowerCut {
    /// What is lost with the program, of all that it has not synced.
    enum Loss: UInt64, CaseIterable, Sendable {
        /// Nothing, as when the program is killed.
        case nothing = 0
        /// Bytes, but no names.
        case bytes = 1
        case everything = 3
    }

    private let control: CInt
    private let words: [String]

    /// - Parameter folder: its path without symbolic links. The files' lost names are kept beside it.
    init(below folder: String) throws {
        let path = folder + ".control"
        control = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard control >= 0, ftruncate(control, off_t(32 + Self.most * Self.longest)) == 0 else {
            throw Trouble("could not create \(path)")
        }
        words = [
            "/usr/bin/env", "LD_PRELOAD=\(try Self.library.get())", "POWERCUT_CONTROL=\(path)",
            "POWERCUT_FOLDER=\(folder)",
        ]
    }

    deinit { close(control) }

    /// The command that executes a program that will be ended.
    ///
    /// - Parameter operation: after which it will be ended; 0 if it will not.
    func prefix(endingAfter operation: Int, losing loss: Loss) throws -> [String] {
        try set([0, UInt64(operation), loss.rawValue, 0])
        return words
    }

    /// Moves the monotonic clock of the running program forward.
    func advance(seconds: UInt64) throws { try set([seconds], at: 3) }

    private func set(_ values: [UInt64], at first: Int = 0) throws {
        let size = values.count * 8
        guard pwrite(control, values, size, off_t(first * 8)) == size else { throw Trouble("could not set the cut") }
    }

    /// The number of operations so far.
    var count: Int {
        var count: UInt64 = 0
        return pread(control, &count, 8, 0) == 8 ? Int(count) : 0
    }

    /// The numbers of the operations so far. Of consecutive ones of one kind on one file, such as the writes of a
    /// transaction, only the last one.
    var operations: [Int] {
        let all = (0..<count).map(operation)
        return all.indices.filter { $0 + 1 == all.count || all[$0] != all[$0 + 1] }.map { $0 + 1 }
    }

    private func operation(_ place: Int) -> String {
        var text = [UInt8](repeating: 0, count: Self.longest)
        pread(control, &text, text.count, off_t(32 + place * Self.longest))
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The last operation so far.
    var last: String { operation(count - 1) }

    private static let longest = 96
    private static let most = 8_192

    /// Built with the Clang of the toolchain whose library this test has loaded.
    private static let library = Result { () throws -> String in
        let maps = DaemonFixture.text(of: "/proc/self/maps").split(whereSeparator: { $0 == " " || $0 == "\n" })
        let standard = maps.first { $0.hasSuffix("/lib/swift/linux/libswiftCore.so") }?.dropLast(32)
        let source = #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 }
        let built = DaemonFixture.programs + "/powercut.so"
        let draft = "\(built).\(getpid())"
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let clang = try ChildProcess(
            (standard ?? "/usr") + "/bin/clang",
            ["-O1", "-shared", "-fPIC", "-o", draft, source + "/Support/PowerCut/powercut.c"],
            descriptors: [(0, nothing), (1, 2), (2, 2)])
        guard try clang.waitForEnd(within: .seconds(60)) == .exited(0), rename(draft, built) == 0 else {
            throw Trouble("could not build \(built)")
        }
        return built
    }
}
