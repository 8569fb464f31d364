import BrokerPeerIdentity
import Glibc
import Testing

@testable import BrokerManifests

@Suite("The manifest that packaging/install writes")
struct InstalledManifestTests {
    private static let top = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    private static func run(_ script: String) -> CInt {
        var process = pid_t()
        var arguments = ["sh", "-c", script].map { (word: String) in strdup(word) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ) == 0 else { return -1 }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    @Test(
        "It names contactbook's installed path, once, for any prefix",
        arguments: ["/usr", "/usr/local", "/opt/x"])
    func executables(prefix: String) throws {
        var template = Array("/tmp/install-test.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { _ = Self.run("rm -rf '\(folder)'") }
        // Empty files replace the programs: only their paths matter.
        try #require(
            Self.run(
                """
                mkdir '\(folder)/programs' && cd '\(folder)/programs' && touch contact-agent contactctl contactbook && \
                DESTDIR='\(folder)/root' PREFIX=\(prefix) '\(Self.top)/packaging/install' '\(folder)/programs' >/dev/null 2>&1
                """) == 0)
        let name = "io.contactbroker.contactbook"
        let path = "\(folder)/root/usr/share/contactbroker/apps.d/\(name).toml"
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = fread(&bytes, 1, bytes.count, file)
        let manifest = try ManifestReader.read(
            String(decoding: bytes.prefix(count), as: UTF8.self), file: path, id: name)
        #expect(manifest.executables == ["\(prefix)/bin/contactbook"])
    }
}
