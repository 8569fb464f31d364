import BrokerBounds
import BrokerPeerIdentity
import BrokerTrustedFiles

/// The folder in which packages install manifests, which declare the programs of an app.
///
/// The folder and the files must belong to root, and nobody else may write to them, because a manifest gives
/// a program the identity of an app.
public struct ManifestFolder: Hashable, Sendable {
    public static let systemPath = "/usr/share/contactbroker/apps.d"

    public let path: String

    public init(path: String = systemPath) { self.path = path }

    /// Returns the valid manifests, and the problems of the invalid ones, which are ignored. If there is no
    /// folder, there are no manifests.
    public func read() -> (manifests: AppManifests, problems: [TrustedFileError]) {
        var manifests: [AppManifest] = []
        do throws(TrustedFileError) {
            let terms = TrustedFolder.Terms(
                owner: 0, maximumSize: FileLimits.manifest, maximumFiles: FileLimits.manifests)
            guard let folder = try TrustedFolder.open(path, terms) else { return (AppManifests(), []) }
            let problems = try folder.readFiles { name, file, text throws(TrustedFileError) in
                let id = String(name.dropLast(".toml".count))
                manifests.append(try ManifestReader.read(text, file: file, id: id))
            }
            return (AppManifests(manifests), problems + Self.disputes(manifests, path))
        } catch {
            return (AppManifests(), [error])
        }
    }

    /// Reports paths that several manifests name. Such a path identifies no app; see ``AppManifests``.
    private static func disputes(_ manifests: [AppManifest], _ folder: String) -> [TrustedFileError] {
        var first: [String: String] = [:]
        var problems: [TrustedFileError] = []
        for manifest in manifests {
            for path in manifest.executables {
                guard let other = first[path] else {
                    first[path] = manifest.app
                    continue
                }
                problems.append(
                    TrustedFileError(
                        file: "\(folder)/\(manifest.app).toml", key: "app.executables",
                        reason: "\(other) names \(path) too, so the path identifies neither app"))
            }
        }
        return problems
    }
}
