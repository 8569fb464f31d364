import Testing

@testable import contactbroker_dav

@Suite("The command line of contactbroker-dav")
struct ArgumentsTests {
    @Test("A session's folders have defaults, and are named in both forms")
    func session() throws {
        #expect(try Arguments(["--session"]).action == .session(runtime: nil, state: nil))
        let both = try Arguments(["--runtime-dir", "/a", "--state-dir=/b=c", "--session"]).action
        #expect(both == .session(runtime: "/a", state: "/b=c"))
        #expect(try Arguments(["--help", "--odd"]).action == .help)
    }

    @Test(
        "Anything else is refused, and system mode is said to come later",
        arguments: [[], ["--session=1"], ["--session", "--state-dir"], ["--session", "x"], ["--system"]])
    func refused(words: [String]) {
        #expect(throws: Arguments.Misunderstood.self) { try Arguments(words) }
    }

    @Test("The port is chosen once, and a port that is taken is not replaced")
    func port() throws {
        let folder = try TemporaryFolder()
        let file = PortFile(folder: folder.path)
        var asked: [UInt16] = []
        let chosen = try file.port { port in
            asked.append(port)
            return asked.count == 3
        }
        #expect(asked.count == 3 && asked.last == chosen && (20_000...32_767).contains(chosen))
        #expect(try file.port { _ in true } == chosen)
        #expect(throws: Failure.self) { try file.port { _ in false } }
        for text in ["", "80\n", "20001", "port\n", "99999\n"] {
            try folder.write(text, to: "carddav-port")
            #expect(throws: Failure.self) { try file.port { _ in true } }
        }
        try folder.write("1024\n", to: "carddav-port")
        #expect(try file.port { _ in true } == 1_024)
    }
}
