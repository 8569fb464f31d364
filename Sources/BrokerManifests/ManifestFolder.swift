import BrokerPeerIdentity
import BrokerPolicy
import Glibc

/// The folder in which packages say which programs are which apps.
///
/// Folder and files must be root's, and nobody else may write to them: a manifest makes a path an app.
public struct ManifestFolder: Hashable, Sendable {
    public static let systemPath = "/usr/share/contactbroker/apps.d"

    public let path: String

    /// One file, in bytes.
    static let maximumSize = 65_536
    static let maximumFiles = 1_024

    public init(path: String = systemPath) { self.path = path }

    private var files: TrustedFiles {
        TrustedFiles(owner: 0, maximumSize: Self.maximumSize, maximumFiles: Self.maximumFiles)
    }

    /// The manifests that are good, and what is wrong with the others, which name nobody. No folder is no manifests.
    public func read() -> (manifests: AppManifests, problems: [ManifestProblem]) {
        var manifests: [AppManifest] = []
        var problems: [ManifestProblem] = []
        do throws(ManifestProblem) {
            guard let folder = try files.folder(path) else { return (AppManifests(), []) }
            defer { close(folder) }
            for name in try files.names(in: folder, path) {
                do throws(ManifestProblem) {
                    let file = path + "/" + name
                    let text = try files.text(of: name, in: folder, file)
                    let id = String(name.dropLast(".toml".count))
                    manifests.append(try ManifestReader.read(text, file: file, id: id))
                } catch {
                    problems.append(error)
                }
            }
        } catch {
            return (AppManifests(), [error])
        }
        problems += Self.disputes(manifests, path)
        return (AppManifests(manifests), problems)
    }

    /// A path that two name names neither: ``AppManifests``.
    private static func disputes(_ manifests: [AppManifest], _ folder: String) -> [ManifestProblem] {
        var first: [String: String] = [:]
        var problems: [ManifestProblem] = []
        for manifest in manifests {
            for path in manifest.executables {
                guard let other = first[path] else {
                    first[path] = manifest.app
                    continue
                }
                problems.append(
                    ManifestProblem(
                        file: "\(folder)/\(manifest.app).toml", key: "app.executables",
                        reason: "\(path) is \(other)'s too, so that it names neither"))
            }
        }
        return problems
    }
}
