import Glibc

/// Folders of a session's service. They are the broker's.
struct ServiceFolders {
    let runtime: String
    let state: String

    /// Uses the folders from the command line. `nil` stands for the default, which depends on the environment.
    init(runtime: String?, state: String?) throws(Failure) {
        let places = [
            runtime, Self.variable("CONTACTBROKER_RUNTIME_DIR"),
            Self.variable("XDG_RUNTIME_DIR").map { $0 + "/contactbroker" },
        ]
        guard let runtime = places.compactMap(\.self).first else {
            throw Failure(
                "could not start: XDG_RUNTIME_DIR is not set, so the broker cannot be found",
                tryThis: "contactbroker-dav --session --runtime-dir FOLDER")
        }
        let homes = [
            state, Self.variable("XDG_STATE_HOME").map { $0 + "/contactbroker" },
            Self.variable("HOME").map { $0 + "/.local/state/contactbroker" },
        ]
        guard let state = homes.compactMap(\.self).first else {
            throw Failure(
                "could not start: neither XDG_STATE_HOME nor HOME is set, so the port cannot be kept",
                tryThis: "contactbroker-dav --session --state-dir FOLDER")
        }
        (self.runtime, self.state) = (runtime, state)
    }

    var brokerSocket: String { runtime + "/carddav/io.contactbroker.CardDAV" }

    /// Creates the folder of the port, accessible only to this user, as the broker creates it. Nobody else may be able to
    /// write to it: who chooses the port can collect passwords there.
    func make() throws(Failure) {
        var parent = state.hasPrefix("/") ? "" : "."
        for part in state.split(separator: "/") {
            parent += "/" + part
            guard mkdir(parent, 0o700) != 0, errno != EEXIST, errno != EISDIR else { continue }
            throw Failure("could not start: cannot create the folder \(parent): \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard lstat(state, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
            status.st_mode & 0o022 == 0
        else {
            throw Failure(
                "could not start: other users can change \(state)",
                tryThis: "it must be a folder of yours: chown \(getuid()) \(state) && chmod 0700 \(state)")
        }
    }

    /// Relative values are ignored, as the XDG Base Directory Specification requires.
    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return value
    }
}
