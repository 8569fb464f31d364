import BrokerAccessControl
import BrokerInterface
import Glibc
import Testing

@testable import BrokerLedger
@testable import BrokerPeerIdentity
@testable import contactbrokerd

/// A folder with a project: its programs are in `debug` and `release`.
private final class Project {
    let outer: Folder
    let path: String

    init() throws {
        outer = try Folder()
        path = outer.path + "/app"
        for part in ["", "/debug", "/release"] { try #require(mkdir(path + part, 0o755) == 0) }
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { remove(path + "/" + name) }
            }
            closedir(directory)
            rmdir(path)
        } else {
            unlink(path)
        }
    }

    /// Builds a program: a copy of `cat`, which is another file in each build.
    func build(_ name: String, version: String, of program: String = "/bin/cat") throws -> String {
        try outer.copy(of: program, as: "app/" + name, ending: Array(version.utf8))
    }

    /// The declaration of a folder, as the broker makes it.
    func declared(_ path: String? = nil, uid: UInt32 = geteuid()) throws -> DeclaredFolder {
        let found = try FolderInspection.inspect(path ?? self.path, for: uid)
        return DeclaredFolder(uid: uid, path: found.path, identity: found.identity, ends: .max)
    }
}

@Suite("Programs in a declared folder")
struct DeclaredFolderTests {
    private let collector: EvidenceCollector
    private let project: Project
    private let folder: DeclaredFolder

    init() throws {
        collector = try EvidenceCollector()
        project = try Project()
        folder = try project.declared()
    }

    private func evidence(_ arguments: [String], _ change: (inout TestCaller.Plan) -> Void = { _ in }) throws
        -> Evidence
    {
        var plan = TestCaller.Plan()
        plan.arguments = arguments
        change(&plan)
        let test = try TestCaller(plan)
        // The program has begun once it answers.
        #expect(try test.exchange("line") == "line\n")
        var evidence = try test.evidence(with: collector)
        evidence.findFolders()
        return evidence
    }

    private func strength(_ judgement: Judgement) -> IdentityStrength? {
        guard case .caller(let caller) = judgement else { return nil }
        return caller.strength
    }

    private func judged(_ evidence: Evidence, _ declared: [DeclaredFolder]? = nil) throws -> Caller {
        guard case .caller(let caller) = judge(evidence, declared: declared ?? [folder]) else {
            throw TestFailure.unreadable("caller")
        }
        return caller
    }

    @Test(
        "A program that is built again, also in another folder below, is the same app; another program is another app")
    func rebuilt() throws {
        let first = try judged(evidence([project.build("debug/hello", version: "1")]))
        let second = try judged(evidence([project.build("debug/hello", version: "2")]))
        let release = try judged(evidence([project.build("release/hello", version: "3")]))
        let other = try judged(evidence([project.build("debug/other", version: "1")]))
        #expect(first.strength == .declared)
        #expect(first.app == "\(project.path)//hello" && first.displayName == "hello")
        #expect(first.declaredFolder == project.path)
        #expect([second.app, release.app] == [first.app, first.app])
        #expect(second.principals.last == first.principals.last)
        #expect(other.strength == .declared && other.app == "\(project.path)//other")
        // Without the declaration, each build is another app.
        let unknown = try judged(evidence([project.build("debug/hello", version: "1")]), [])
        #expect(unknown.strength == .unverified && unknown.declaredFolder == nil)
    }

    @Test("Of two declared folders, the inner one identifies the app")
    func nested() throws {
        let inner = try project.declared(project.path + "/debug")
        let evidence = try evidence([project.build("debug/hello", version: "1")])
        #expect(try judged(evidence, [folder, inner]).app == "\(project.path)/debug//hello")
    }

    @Test("A program outside is not declared: run in the folder, through a link in it, or under a second name outside")
    func outside() throws {
        #expect(try judged(evidence(["/usr/bin/env", "-C", project.path, "/bin/cat"])).strength == .unverified)
        let link = project.path + "/link"
        try #require(symlink("/bin/cat", link) == 0)
        #expect(try judged(evidence([link])).strength == .unverified)
        let inside = try project.build("hello", version: "1")
        let outside = project.outer.path + "/hello"
        try #require(Glibc.link(inside, outside) == 0)
        #expect(try judged(evidence([outside])).strength == .unverified)
        // The same file inside.
        #expect(try judged(evidence([inside])).strength == .declared)
    }

    @Test("A script in the folder is its interpreter, and a copy of an interpreter is one")
    func interpreters() throws {
        let script = try project.outer.write(
            Array("#!/bin/sh\nexec /bin/sh -c 'read l; echo $l; read l'\n".utf8), to: "app/run")
        chmod(script, 0o755)
        let shell = try judged(evidence([script]))
        #expect(shell.strength == .unverified && shell.isInterpreter)
        let copy = try project.build("tool", version: "", of: "/bin/sh")
        let copied = try judged(evidence([copy, "-c", "read line; echo $line; read line"]))
        #expect(copied.strength == .unverified && copied.isInterpreter)
    }

    @Test("A folder that was moved or replaced is not the declared one")
    func moved() throws {
        let aside = project.outer.path + "/aside"
        _ = try project.build("debug/hello", version: "1")
        try #require(rename(project.path, aside) == 0)
        defer { _ = rename(aside, project.path) }
        #expect(try judged(evidence([aside + "/debug/hello"])).strength == .unverified)
        try #require(mkdir(project.path, 0o755) == 0)
        let impostor = try project.build("hello", version: "1")
        #expect(try judged(evidence([impostor])).strength == .unverified)
        unlink(impostor)
        rmdir(project.path)
    }

    @Test("A program whose file was built again while it runs is not declared any more")
    func replaced() throws {
        let path = try project.build("hello", version: "1")
        var plan = TestCaller.Plan()
        plan.arguments = [path]
        let test = try TestCaller(plan)
        _ = try test.exchange("line")
        try #require(rename(project.build("new", version: "2"), path) == 0)
        #expect(try judged(test.evidence(with: collector)).strength == .unverified)
    }

    @Test("The file and each folder down to it must be closed to others", arguments: ["", "/debug", "/debug/hello"])
    func closed(part: String) throws {
        let path = try project.build("debug/hello", version: "1")
        #expect(try judged(evidence([path])).strength == .declared)
        for mode in [0o775, 0o777] as [mode_t] {
            try #require(chmod(project.path + part, mode) == 0)
            #expect(try judged(evidence([path])).strength == .unverified)
        }
    }

    @Test(
        "A file or a folder of another user is not the person's, and neither is another user's declaration",
        .enabled(if: Machine.isRoot, "needs root to give files away"))
    func foreign() throws {
        let path = try project.build("debug/hello", version: "1")
        let other = DeclaredFolder(uid: 54_321, path: folder.path, identity: folder.identity, ends: .max)
        #expect(try judged(evidence([path]), [other]).strength == .unverified)
        for part in ["/debug/hello", "/debug"] {
            try #require(chown(project.path + part, 54_321, 54_321) == 0)
            #expect(try judged(evidence([path])).strength == .unverified)
            try #require(chown(project.path + part, 0, 0) == 0)
        }
        #expect(try judged(evidence([path])).strength == .declared)
    }

    @Test(
        "What is mounted below the folder is not in it",
        .enabled(if: Machine.isRoot, "needs root to mount"))
    func mounted() throws {
        let path = try project.build("debug/hello", version: "1")
        let target = project.path + "/release"
        try #require(mount(project.path + "/debug", target, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(target, CInt(MNT_DETACH)) }
        #expect(try judged(evidence([target + "/hello"])).strength == .unverified)
        #expect(try judged(evidence([path])).strength == .declared)
    }

    @Test(
        "A caller in another mount namespace is never declared",
        .enabled(if: Machine.canMakeNamespaces, "needs namespaces"))
    func otherNamespace() throws {
        let path = try project.build("debug/hello", version: "1")
        let evidence = try evidence([path]) {
            $0.ownMountNamespace = true
            $0.ownUserNamespace = true
        }
        #expect(strength(judge(evidence, declared: [folder])) != .declared)
    }

    @Test("The system's broker, and a broker that cannot tell which process connected, know no declared folder")
    func otherEvidence() throws {
        let found = try evidence([project.build("debug/hello", version: "1")])
        #expect(try judged(found).strength == .declared)
        for change in [
            { $0.vantage = .system }, { $0.pidfdSource = .number },
            { $0.ownNamespaces.mount = .found(7) }, { $0.folders = .absent },
            { $0.flatpakInfo = .found(.init(app: "org.example.App")) },
        ] as [(inout Evidence) -> Void] {
            var changed = found
            change(&changed)
            #expect(strength(judge(changed, declared: [folder])) != .declared)
        }
        let system = try EvidenceCollector(vantage: .system)
        var plan = TestCaller.Plan()
        plan.arguments = [try project.build("debug/hello", version: "1")]
        var evidence = try TestCaller(plan).evidence(with: system)
        evidence.findFolders()
        #expect(evidence.folders == .absent)
    }

    @Test("A stronger identity wins over a declared folder")
    func stronger() throws {
        var found = try evidence([project.build("debug/hello", version: "1")])
        found.terminal = nil
        found.controlGroup = .found(
            "/user.slice/user-\(found.uid).slice/user@\(found.uid).service/app.slice/app-gnome-org.example.Mail-1.scope"
        )
        #expect(try judged(found).strength == .claimed)
    }
}

@Suite("Inspecting a folder that the person wants to declare")
struct FolderInspectionTests {
    private let uid = geteuid()

    private func problem(_ path: String) -> FolderProblem? {
        do throws(FolderProblem) {
            _ = try FolderInspection.inspect(path, for: uid)
            return nil
        } catch {
            return error
        }
    }

    @Test("A link is resolved, and the folder's own path is reported")
    func links() throws {
        let project = try Project()
        let link = project.outer.path + "/link"
        try #require(symlink(project.path, link) == 0)
        #expect(try FolderInspection.inspect(link + "/../link/debug/", for: uid).path == project.path + "/debug")
    }

    @Test("Whatever is no folder of one project is refused, each with its reason")
    func refused() throws {
        let project = try Project()
        let file = try project.build("file", version: "")
        #expect(problem("app") == .notAbsolute)
        #expect(problem("") == .notAbsolute)
        #expect(problem(project.path + "/none") == .notFound)
        #expect(problem(file) == .notAFolder)
        #expect(problem("/") == .tooWide)
        #expect(problem("~") == .tooWide)
        #expect(problem("~/none-such-folder") == .notFound)
        #expect(problem("/tmp") == (uid == 0 ? .writableByOthers : .notOwned))
        let home = try #require(getpwuid(uid)?.pointee.pw_dir).withMemoryRebound(to: CChar.self, capacity: 1) {
            String(cString: $0)
        }
        #expect(problem(home) == .tooWide)
        try #require(chmod(project.path, 0o775) == 0)
        #expect(problem(project.path) == .writableByOthers)
        let odd = project.path + "/a\u{1B}b"
        try #require(mkdir(odd, 0o755) == 0)
        #expect(problem(odd) == .unsupported)
    }

    @Test("Another user's folder is refused", .enabled(if: Machine.isRoot, "needs root to give a folder away"))
    func foreign() throws {
        let project = try Project()
        try #require(chown(project.path, 54_321, 54_321) == 0)
        #expect(problem(project.path) == .notOwned)
    }
}
