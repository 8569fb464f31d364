import CBrokerLinux
import Glibc

/// A bound, listening Unix socket, and the file it owns.
struct ListeningSocket {
    let descriptor: CInt
    /// The file of a socket that this process bound; `nil` for a passed socket, whose file it must not remove.
    private let file: BoundFile?

    private struct BoundFile {
        let path: String
        let device: dev_t
        let inode: ino_t
    }

    /// Creates the socket. If a stale socket file, on which no process listens, is at the path, removes it
    /// first.
    static func bind(path: String, mode: mode_t, backlog: CInt) throws(ServerError) -> ListeningSocket {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
            switch clinux_is_answered(path) {
            case 0: unlink(path)
            case 1: throw .alreadyServed(path: path)
            // The file was removed after the check above.
            case -ENOENT: break
            case let code: throw .cannotListen(path: path, reason: String(cString: strerror(-code)))
            }
        }
        let descriptor = clinux_listen(path, mode, backlog)
        guard descriptor >= 0 else {
            throw .cannotListen(path: path, reason: String(cString: strerror(-descriptor)))
        }
        var file: BoundFile?
        if lstat(path, &status) == 0 {
            file = BoundFile(path: path, device: status.st_dev, inode: status.st_ino)
        }
        return ListeningSocket(descriptor: descriptor, file: file)
    }

    /// Adopts a socket that another process has bound.
    static func adopt(descriptor: CInt) throws(ServerError) -> ListeningSocket {
        guard clinux_is_listening(descriptor, CInt(SOCK_STREAM.rawValue)), clinux_set_close_on_exec(descriptor) == 0,
            clinux_set_nonblocking(descriptor) == 0, clinux_know_writers(descriptor) == 0
        else {
            throw .notListening(descriptor: descriptor)
        }
        return ListeningSocket(descriptor: descriptor, file: nil)
    }

    /// Removes the file, unless another socket has replaced it.
    func unlinkFile() {
        var status = stat()
        guard let file, lstat(file.path, &status) == 0, status.st_dev == file.device, status.st_ino == file.inode else {
            return
        }
        unlink(file.path)
    }
}
