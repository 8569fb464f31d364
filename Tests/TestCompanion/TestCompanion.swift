import CBrokerLinux
import Glibc

/// A process that makes a test's connections. It carries bytes between its standard streams and sockets.
///
/// The broker identifies a caller by its process, so a test that needs several apps and a person needs several
/// processes. Copies of this program at different paths are different apps.
@main
struct TestCompanion {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            limit.rlim_cur = limit.rlim_max
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        // With an argument, this process is a parent: it starts that program with its descriptors 3 and 4 as standard
        // streams.
        if CommandLine.arguments.count > 1 { startChild(CommandLine.arguments[1]) }
        var relay = Relay()
        relay.run()
    }

    private static func startChild(_ path: String) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, 3, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, 4, STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, 3)
        posix_spawn_file_actions_addclose(&actions, 4)
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
        var child: pid_t = 0
        if posix_spawn(&child, path, &actions, nil, &arguments, environ) != 0 { exit(1) }
        free(arguments[0])
        posix_spawn_file_actions_destroy(&actions)
        close(3)
        close(4)
    }
}
