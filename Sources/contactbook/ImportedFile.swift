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

    init(_ path: String) throws {
        guard path != "-" else {
            (descriptor, name, size, isFolder) = (STDIN_FILENO, "standard input", nil, false)
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
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    static func size(of files: [ImportedFile]) -> Int? {
        let sizes = files.compactMap(\.size)
        return sizes.count == files.count ? sizes.reduce(0, +) : nil
    }

    /// Reads the next bytes; empty at the end.
    func read(into buffer: inout [UInt8]) throws -> ArraySlice<UInt8> {
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw OutputFile.failure(Import.task, name, errno) }
            return buffer[..<count]
        }
    }
}
