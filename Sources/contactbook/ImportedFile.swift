import BrokerCommandOutput
import BrokerContactFiles
import Glibc

/// An open file or folder to import.
final class ImportedFile {
    let descriptor: CInt
    /// The file's name as the person sees it.
    let name: String
    /// The file's size in bytes; `nil` if it is not a regular file.
    let size: Int?
    let isFolder: Bool
    /// The offset at which the file begins; `nil` for a pipe, which cannot be read twice.
    private let start: off_t?
    /// The bytes of a pipe that were read before ``rewind()``.
    private var kept: [UInt8] = []
    private var isRewound = false
    private var isAtEnd = false

    /// The maximum number of bytes of a pipe to keep.
    private static let mostKept = 256 * 1_048_576

    init(_ path: String) throws {
        guard path != "-" else {
            (descriptor, name, size, isFolder) = (STDIN_FILENO, "standard input", nil, false)
            start = Self.offset(STDIN_FILENO)
            return
        }
        name = Speech.clean(path)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            throw OutputFile.failure(Import.task, name, errno)
        }
        size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        start = Self.offset(descriptor)
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    static func size(of files: [ImportedFile]) -> Int? {
        let sizes = files.compactMap(\.size)
        return sizes.count == files.count ? sizes.reduce(0, +) : nil
    }

    private static func offset(_ descriptor: CInt) -> off_t? {
        let offset = lseek(descriptor, 0, SEEK_CUR)
        return offset < 0 ? nil : offset
    }

    /// Goes back to the beginning, once.
    func rewind() throws {
        isRewound = true
        guard let start, lseek(descriptor, start, SEEK_SET) < 0 else { return }
        throw OutputFile.failure(Import.task, name, errno)
    }

    /// Reads the next bytes; empty at the end.
    func read(into buffer: inout [UInt8]) throws -> ArraySlice<UInt8> {
        guard start == nil else { return try readOn(into: &buffer) }
        if isRewound, !kept.isEmpty {
            defer { kept = [] }
            return kept[...]
        }
        guard !isAtEnd else { return [] }
        let bytes = try readOn(into: &buffer)
        isAtEnd = bytes.isEmpty
        if !isRewound {
            kept += bytes
            guard kept.count <= Self.mostKept else {
                throw CommandFailure(
                    "could not \(Import.task): \(name) has more than 256 MiB",
                    try: "save it to a file, then import the file", .notTried)
            }
        }
        return bytes
    }

    private func readOn(into buffer: inout [UInt8]) throws -> ArraySlice<UInt8> {
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw OutputFile.failure(Import.task, name, errno) }
            return buffer[..<count]
        }
    }
}
