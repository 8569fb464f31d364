import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("The broker's folders in unusual states")
struct StateTests {
    /// A stopped broker with contacts and a grant.
    private static func used() throws -> DaemonFixture {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        try fixture.stop()
        return fixture
    }

    private static func launchFails(_ fixture: DaemonFixture, prefix: [String]? = nil, saying words: String) throws {
        let before = DaemonFixture.contents(of: fixture.state)
        let journal = fixture.journal.count
        let broker = try fixture.launch(prefix: prefix)
        #expect(try broker.waitForEnd() == .exited(2))
        let said = fixture.journal.dropFirst(journal)
        #expect(said.contains("contactbrokerd: could not start: "), "\(said)")
        #expect(said.contains(words), "\(said)")
        // The advice is a line of its own.
        let lines = said.split(separator: "\n")
        let start = lines.firstIndex { $0.contains("could not start") } ?? 0
        #expect(lines.count == start + 2, "\(said)")
        let after = DaemonFixture.contents(of: fixture.state)
        #expect(after.keys.sorted() == before.keys.sorted())
        // Any reader of SQLite's log may rebuild the shared memory file, which only indexes the log.
        for (path, bytes) in before where !path.hasSuffix("-shm") {
            let isSame = after[path] == bytes
            #expect(isSame, "\(path)")
        }
    }

    /// Expects that the broker finds its audit intact. The administrator's program runs in the broker's mount
    /// namespace, so it sees the same disk.
    private static func verify(_ fixture: DaemonFixture) throws {
        let line = try fixture.companion("administrator").open(fixture.adminSocket)
        let verified = try line.call("io.contactbroker.Admin.VerifyAudit")
        #expect(verified.error == nil)
        #expect((verified["records"]?.integer ?? 0) > 0)
        #expect(verified["brokenAt"]?.integer == nil)
    }

    @Test(
        "The broker refuses a damaged access database and leaves it unchanged",
        arguments: [
            "nothing of ours", "cut short", "overwritten",
        ])
    func damaged(how: String) throws {
        let fixture = try Self.used()
        let path = fixture.state + "/access.sqlite"
        var bytes = try #require(DaemonFixture.bytes(of: path))
        switch how {
        case "nothing of ours": bytes = Array("These are not the bytes that you are looking for.".utf8)
        case "cut short": bytes = Array(bytes.prefix(bytes.count / 2))
        default: for place in 1_024..<bytes.count { bytes[place] = UInt8(truncatingIfNeeded: place &* 31) }
        }
        try DaemonFixture.write(bytes, to: path)
        try Self.launchFails(fixture, saying: "is damaged and was left as it is")
    }

    @Test("The broker refuses an access database of a later version and leaves it unchanged")
    func newer() throws {
        let fixture = try Self.used()
        let path = fixture.state + "/access.sqlite"
        var bytes = try #require(DaemonFixture.bytes(of: path))
        // The last byte of the user version, sqlite.org/fileformat2.html §1.3.
        bytes[63] += 1
        try DaemonFixture.write(bytes, to: path)
        try Self.launchFails(fixture, saying: "was written by a later contactbrokerd")
    }

    @Test("The broker refuses a symbolic link as its state folder and says what to do instead")
    func link() throws {
        let fixture = try DaemonFixture(starting: false)
        try #require(mkdir(fixture.folder + "/elsewhere", 0o700) == 0)
        try #require(symlink(fixture.folder + "/elsewhere", fixture.state) == 0)
        try Self.launchFails(
            fixture, saying: "\(fixture.state) is not a folder, or is a link to one\nname the folder itself")
    }

    @Test("A second broker on the same state folder does not start, and the first continues")
    func inUse() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        #expect(try keeper.fetch().names.count == 4)
        let log = open(fixture.folder + "/journal2", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let second = try ChildProcess(
            DaemonFixture.programs + "/contactbrokerd",
            [
                "--session", "--runtime-dir", fixture.folder + "/run2", "--state-dir", fixture.state, "--config-dir",
                fixture.state,
            ],
            descriptors: [(1, log), (2, log)])
        #expect(try second.waitForEnd() == .exited(2))
        let said = DaemonFixture.text(of: fixture.folder + "/journal2")
        #expect(said.contains("could not start: another broker serves \(fixture.state)\n"))
        #expect(try keeper.fetch().names.count == 4)
    }

    @Test("A second broker on the same sockets does not start, and the first continues")
    func socketsInUse() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let log = open(fixture.folder + "/journal2", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let second = try ChildProcess(
            DaemonFixture.programs + "/contactbrokerd",
            [
                "--session", "--runtime-dir", fixture.runtime, "--state-dir", fixture.folder + "/state2",
                "--config-dir",
                fixture.configuration,
            ],
            descriptors: [(1, log), (2, log)])
        #expect(try second.waitForEnd() == .exited(2))
        #expect(DaemonFixture.text(of: fixture.folder + "/journal2").contains("another broker may be running"))
        #expect(try keeper.fetch().names.count == 4)
        #expect(try fixture.app("mail").call("GetAuthorization").word == "notDetermined")
    }

    @Test("The broker replaces sockets that a killed broker left behind")
    func leftovers() throws {
        let fixture = try DaemonFixture()
        fixture.kill()
        #expect(access(fixture.appsSocket, F_OK) == 0)
        try fixture.start()
        #expect(try fixture.app("mail").call("GetAuthorization").word == "notDetermined")
        try fixture.stop()
        #expect(access(fixture.appsSocket, F_OK) != 0)
    }

    @Test(
        "The broker does not start with a state folder on a read-only file system",
        .enabled(if: getuid() == 0 && Surroundings.smallDisk(megabytes: 1).canBeEntered, "needs root, to mount"))
    func readOnly() throws {
        let fixture = try Self.used()
        let script = #"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#
        try Self.launchFails(
            fixture, prefix: ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, fixture.state],
            saying: "could not start")
    }

    @Test(
        "The broker does not start with an access database that it cannot write",
        .enabled(if: Surroundings.ordinaryUser.canBeEntered, "needs unshare, setpriv and a build that others may read"))
    func unwritable() throws {
        let fixture = try DaemonFixture(in: .ordinaryUser)
        try fixture.stop()
        chmod(fixture.state + "/access.sqlite", 0o400)
        try Self.launchFails(fixture, saying: "cannot be used")
    }

    @Test(
        "A damaged or newer contacts database is left unchanged; the broker reports it and serves",
        arguments: [
            "damaged", "newer",
        ])
    func book(how: String) throws {
        let fixture = try Self.used()
        let path = try #require(DaemonFixture.paths(below: fixture.state).first { $0.hasSuffix("/contacts.sqlite") })
        var bytes = try #require(DaemonFixture.bytes(of: path))
        if how == "newer" { bytes[63] += 1 } else { bytes = Array(bytes.prefix(2_000)) }
        try DaemonFixture.write(bytes, to: path)
        try fixture.start()
        let keeper = try fixture.app("keeper")
        #expect(try keeper.call("GetAuthorization").word == "full")
        #expect(try keeper.fetch().error == "StoreUnavailable")
        #expect(try keeper.save([App.adding(given: "Kurt")]).error == "StoreUnavailable")
        let folder = path.dropLast("/contacts.sqlite".count)
        let cause = how == "newer" ? "it was written by a later contactbrokerd" : "it is damaged and was left as it is"
        #expect(fixture.journal.contains("the address book in \(folder) is unavailable: \(cause)"))
        // One log line for several calls.
        #expect(fixture.journal.ranges(of: " is unavailable: ").count == 1)
        let status = try fixture.administrator().call("io.contactbroker.Admin.GetStatus")["status"]
        #expect(status?["lastProblem"]?.string?.contains(cause) == true)
        #expect(DaemonFixture.bytes(of: path) == bytes)
        try fixture.stop()
        #expect(DaemonFixture.bytes(of: path) == bytes)
    }

    @Test(
        "On a full disk no save is partial and reads are exact; with free space saves succeed again",
        .enabled(if: getuid() == 0 && Surroundings.smallDisk(megabytes: 1).canBeEntered, "needs root, to mount"))
    func fullDisk() throws {
        let fixture = try DaemonFixture(in: .smallDisk(megabytes: 6))
        let person = try fixture.person()
        let app = try fixture.app("mail", .everything, by: person)
        // The disk's path through the broker's mount namespace.
        let disk = "/proc/\(try #require(fixture.daemon).pid)/root\(fixture.state)"
        try DaemonFixture.write([UInt8](repeating: 1, count: 2_000_000), to: disk + "/ballast")
        let filler = String(repeating: "x", count: 50_000)
        var saved: [String] = []
        var refused: Answer?
        for number in 0..<500 where refused == nil {
            let names = ["N\(number) A", "N\(number) B"]
            let reply = try app.save(
                names.map { name in
                    let parts = name.split(separator: " ")
                    return App.adding(
                        #""givenName":"\#(parts[0])","familyName":"\#(parts[1])","note":"\#(filler)""#)
                })
            if reply.error == nil { saved += names } else { refused = reply }
        }
        #expect(refused?.error == "StoreUnavailable")
        #expect(!saved.isEmpty)
        func told(_ reply: Answer) -> Set<String> { Set(reply.names) }
        // While the disk is full, a read either fails or returns exactly what was saved.
        let whileFull = try app.fetch("")
        #expect(whileFull.error == "StoreUnavailable" || told(whileFull) == Set(saved))
        #expect(unlink(disk + "/ballast") == 0)
        let withRoom = try app.fetch("")
        #expect(told(withRoom) == Set(saved), "\(withRoom.text.prefix(300)) \(fixture.journal)")
        let next = try app.save([App.adding(given: "After", family: "A")])
        #expect(next.word == "ok", "\(next.text)")
        #expect(try told(app.fetch("")) == Set(saved + ["After A"]))
        try Self.verify(fixture)
    }

    @Test(
        "A disclosure that cannot be recorded is refused, and succeeds once there is space again",
        .enabled(if: getuid() == 0 && Surroundings.smallDisk(megabytes: 1).canBeEntered, "needs root, to mount"))
    func fullDiskForTheAudit() throws {
        let fixture = try DaemonFixture(in: .smallDisk(megabytes: 6))
        let person = try fixture.person()
        let app = try fixture.keeper(with: person)
        let identifiers = try app.fetch().identifiers
        let disk = "/proc/\(try #require(fixture.daemon).pid)/root\(fixture.state)"
        // Fill the rest of the disk, to the last page.
        let ballast = open(disk + "/ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(ballast) }
        let piece = [UInt8](repeating: 1, count: 4_096)
        while write(ballast, piece, piece.count) > 0 {}
        var refused = false
        // Each call needs a record of its own. Call until the next record has room neither in the write-ahead log nor
        // in the database file. Part of the log is allocated in advance, and a checkpoint moves the log into the file.
        let names = [
            "givenName", "familyName", "middleName", "nickname", "organizationName", "departmentName", "namePrefix",
            "nameSuffix", "jobTitle", "phoneNumbers", "emailAddresses", "urlAddresses",
        ]
        for round in 1..<1 << names.count where !refused {
            let keys = names.indices.filter { round & 1 << $0 != 0 }.map { "\"\(names[$0])\"" }.joined(separator: ",")
            let reply = try app.call(
                "FetchContacts",
                #"{"keys":[\#(keys)],"predicate":{"identifiers":\#(quoted(Array(identifiers.prefix(round % 4 + 1))))}}"#
            )
            refused = reply.error == "StoreUnavailable"
            #expect(refused || reply["contacts"]?.count == round % 4 + 1)
        }
        #expect(refused)
        #expect(unlink(disk + "/ballast") == 0)
        #expect(ftruncate(ballast, 0) == 0)
        #expect(try app.fetch().names.count == 4)
        try Self.verify(fixture)
    }
}
