import BrokerJSON
import Glibc
import Testing

@Suite("A program that is built again in a declared folder")
struct RebuiltTests {
    private let fixture: DaemonFixture
    private let person: Person
    private let project: String

    init() throws {
        fixture = try DaemonFixture()
        person = try fixture.person()
        try fixture.keeper(with: person)
        project = fixture.folder + "/project"
        try #require(mkdir(project, 0o755) == 0)
    }

    /// Builds the program, and runs it.
    private func build(_ version: String) throws -> App {
        let new = project + "/new"
        // A child that another test starts now must not inherit a descriptor that is open for writing.
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let building = try ChildProcess(
            "/bin/sh", ["-c", #"cp -- "$1" "$2" && printf %s "$3" >>"$2""#, "sh", Companion.program, new, version],
            descriptors: [(0, nothing), (1, nothing), (2, 2)])
        try #require(try building.waitForEnd() == .exited(0))
        try #require(rename(new, project + "/hello") == 0)
        return try App(companion: Companion(at: project + "/hello"), at: fixture.appsSocket)
    }

    private func declare(_ path: String, checkOnly: Bool = false) throws -> Answer {
        try person.call(
            "DeclareFolder", #"{"agent":"\#(person.token)","path":\#(quoted(path)),"checkOnly":\#(checkOnly)}"#)
    }

    private func level(_ app: App) throws -> String? { try app.call("GetAuthorization")["status"]?.string }

    @Test("It keeps its contacts and their identifiers, and asks nobody again, until the declaration ends")
    func rebuilt() throws {
        let found = try declare(project + "/../project/", checkOnly: true)
        let path = try #require(found["folder"]?["path"]?.string)
        #expect(path == project)
        #expect(try declare(path).error == nil)
        let first = try build("1")
        try first.begin("RequestAccess")
        let prompt = try person.prompt()
        #expect(prompt["caller"]?["strength"]?.string == "declared")
        #expect(prompt["caller"]?["folder"]?.string == project)
        #expect(prompt["maximumLevel"]?.string == "limited")
        let ada = try #require(person.search(prompt, "ada").first)
        #expect(try person.answer(prompt, #""level":"full""#).error == "InvalidAnswer")
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(ada.identifier)"]"#).error == nil)
        #expect(try first.reply()["status"]?.string == "limited")
        let before = try first.fetch()
        #expect(before.names == ["Ada Lovelace"])
        let second = try build("2")
        let after = try second.fetch()
        #expect(after.names == ["Ada Lovelace"] && after.identifiers == before.identifiers)
        #expect(try person.wasNotAsked())
        #expect(
            try person.call("ListFolders", #"{"agent":"\#(person.token)"}"#)["folders"]?.elements?.compactMap {
                $0["path"]?.string
            } == [project])
        #expect(try person.call("EndFolder", #"{"agent":"\#(person.token)","path":"\#(project)"}"#).error == nil)
        // The connection is closed, and the next one is another app.
        #expect((try? second.fetch().names) == nil)
        #expect(try level(build("3")) == "notDetermined")
        let records = try Command(
            DaemonFixture.programs + "/contactctl", ["audit", "--event", "declaration"], in: fixture)
        #expect(records.output.contains("declared for 7 days, by ") && records.output.contains("ended, by "))
    }

    @Test(
        "Without a declaration by the person, each build is another app, whatever lies in the folder or the environment"
    )
    func undeclared() throws {
        for name in ["declared", ".contactbroker", "contactbroker.toml", "CONTACTBROKER_DECLARED"] {
            let file = open(project + "/" + name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            try #require(file >= 0)
            let text = Array("\(project)\n".utf8)
            try #require(write(file, text, text.count) == text.count)
            close(file)
        }
        setenv("CONTACTBROKER_DECLARED", project, 1)
        defer { unsetenv("CONTACTBROKER_DECLARED") }
        let first = try build("1")
        try first.begin("RequestAccess")
        let prompt = try person.prompt()
        #expect(prompt["caller"]?["strength"]?.string == "unverified")
        let ada = try #require(person.search(prompt, "ada").first)
        try person.answer(prompt, #""level":"limited","identifiers":["\#(ada.identifier)"]"#)
        _ = try first.reply()
        #expect(try level(build("2")) == "notDetermined")
    }

    @Test("At the other sockets, a program in a declared folder stays unverified")
    func agents() throws {
        let folder = try declare(fixture.folder, checkOnly: true)["folder"]?["path"]?.string ?? ""
        #expect(try declare(folder).error == nil)
        // Both lie in the declared folder.
        _ = try fixture.person("other agent")
        let app = try fixture.app("mail")
        try app.begin("RequestAccess")
        #expect(try person.prompt()["caller"]?["strength"]?.string == "declared")
        let records = try Command(
            DaemonFixture.programs + "/contactctl", ["audit", "--event", "agent", "--json"], in: fixture)
        #expect(records.output.contains("other agent"))
        #expect(!records.output.contains(#""strength":"declared""#))
    }

    @Test("The apps' socket has no such method, and a folder that is none of the person's is refused with a reason")
    func refused() throws {
        let app = try build("1")
        #expect(try app.call("DeclareFolder", #"{"agent":"x","path":"/tmp"}"#).error == "MethodNotFound")
        for (path, problem) in [
            ("/", "tooWide"), ("/none-such", "notFound"), ("project", "notAbsolute"),
            (project + "/hello", "notAFolder"),
        ] {
            let answer = try declare(path)
            #expect(answer.error == "InvalidFolder" && answer["problem"]?.string == problem, "\(path)")
        }
        // The person has not seen this path.
        #expect(try declare(project + "/.")["problem"]?.string == "notFound")
        #expect(try declare("").error == "InvalidFolder")
    }
}
