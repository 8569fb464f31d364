import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("The broker's folders in unusual states")
struct StateTests {
    /// A stopped broker with contacts and a grant.
    private static func used() throws -> House {
        let house = try House()
        let person = try house.person()
        try house.keeper(with: person)
        try house.stop()
        return house
    }

    private static func launchFails(_ house: House, prefix: [String]? = nil, saying words: String) throws {
        let before = House.contents(of: house.state)
        let journal = house.journal.count
        let broker = try house.launch(prefix: prefix)
        #expect(try broker.waitForEnd() == .exited(2))
        let said = house.journal.dropFirst(journal)
        #expect(said.contains("contactbrokerd: could not start: "), "\(said)")
        #expect(said.contains(words), "\(said)")
        // The advice is a line of its own.
        let lines = said.split(separator: "\n")
        let start = lines.firstIndex { $0.contains("could not start") } ?? 0
        #expect(lines.count == start + 2, "\(said)")
        let after = House.contents(of: house.state)
        #expect(after.keys.sorted() == before.keys.sorted())
        // Any reader of SQLite's log may rebuild the shared memory file, which only indexes the log.
        for (path, bytes) in before where !path.hasSuffix("-shm") {
            let isSame = after[path] == bytes
            #expect(isSame, "\(path)")
        }
    }

    /// Expects that the broker finds its audit whole. The caller runs in the broker's mount namespace and sees the same
    /// disk.
    private static func verify(_ house: House) throws {
        let line = try house.companion("administrator").open(house.adminDoor)
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
        let house = try Self.used()
        let path = house.state + "/access.sqlite"
        var bytes = try #require(House.bytes(of: path))
        switch how {
        case "nothing of ours": bytes = Array("These are not the bytes that you are looking for.".utf8)
        case "cut short": bytes = Array(bytes.prefix(bytes.count / 2))
        default: for place in 1_024..<bytes.count { bytes[place] = UInt8(truncatingIfNeeded: place &* 31) }
        }
        try House.write(bytes, to: path)
        try Self.launchFails(house, saying: "is damaged and was left as it is")
    }

    @Test("The broker refuses an access database of a later version and leaves it unchanged")
    func newer() throws {
        let house = try Self.used()
        let path = house.state + "/access.sqlite"
        var bytes = try #require(House.bytes(of: path))
        // The last byte of the user version, sqlite.org/fileformat2.html §1.3.
        bytes[63] += 1
        try House.write(bytes, to: path)
        try Self.launchFails(house, saying: "was written by a later contactbrokerd")
    }

    @Test("The broker refuses a symbolic link as its state folder and says what to do instead")
    func link() throws {
        let house = try House(starting: false)
        try #require(mkdir(house.folder + "/elsewhere", 0o700) == 0)
        try #require(symlink(house.folder + "/elsewhere", house.state) == 0)
        try Self.launchFails(
            house, saying: "\(house.state) is not a folder, or is a link to one\nname the folder itself")
    }

    @Test("A second broker on the same state folder does not start, and the first continues")
    func inUse() throws {
        let house = try House()
        let person = try house.person()
        let keeper = try house.keeper(with: person)
        #expect(try keeper.fetch().names.count == 4)
        let log = open(house.folder + "/journal2", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let second = try ChildProcess(
            House.programs + "/contactbrokerd",
            [
                "--session", "--runtime-dir", house.folder + "/run2", "--state-dir", house.state, "--config-dir",
                house.state,
            ],
            descriptors: [(1, log), (2, log)])
        #expect(try second.waitForEnd() == .exited(2))
        let said = House.text(of: house.folder + "/journal2")
        #expect(said.contains("could not start: another broker serves \(house.state)\n"))
        #expect(try keeper.fetch().names.count == 4)
    }

    @Test("A second broker on the same sockets does not start, and the first continues")
    func socketsInUse() throws {
        let house = try House()
        let person = try house.person()
        let keeper = try house.keeper(with: person)
        let log = open(house.folder + "/journal2", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let second = try ChildProcess(
            House.programs + "/contactbrokerd",
            [
                "--session", "--runtime-dir", house.runtime, "--state-dir", house.folder + "/state2", "--config-dir",
                house.configuration,
            ],
            descriptors: [(1, log), (2, log)])
        #expect(try second.waitForEnd() == .exited(2))
        #expect(House.text(of: house.folder + "/journal2").contains("another broker may be running"))
        #expect(try keeper.fetch().names.count == 4)
        #expect(try house.app("mail").call("GetAuthorization").word == "notDetermined")
    }

    @Test("The broker replaces sockets that a killed broker left behind")
    func leftovers() throws {
        let house = try House()
        house.kill()
        #expect(access(house.appsDoor, F_OK) == 0)
        try house.start()
        #expect(try house.app("mail").call("GetAuthorization").word == "notDetermined")
        try house.stop()
        #expect(access(house.appsDoor, F_OK) != 0)
    }

    @Test(
        "The broker does not start with a state folder on a read-only file system",
        .enabled(if: getuid() == 0 && Surroundings.smallDisk(megabytes: 1).canBeEntered, "needs root, to mount"))
    func readOnly() throws {
        let house = try Self.used()
        let script = #"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#
        try Self.launchFails(
            house, prefix: ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, house.state],
            saying: "could not start")
    }

    @Test(
        "The broker does not start with an access database that it cannot write",
        .enabled(if: Surroundings.ordinaryUser.canBeEntered, "needs unshare, setpriv and a build that others may read"))
    func unwritable() throws {
        let house = try House(in: .ordinaryUser)
        try house.stop()
        chmod(house.state + "/access.sqlite", 0o400)
        try Self.launchFails(house, saying: "cannot be used")
    }

    @Test(
        "A damaged or newer contacts database is left unchanged; the broker reports it and serves",
        arguments: [
            "damaged", "newer",
        ])
    func book(how: String) throws {
        let house = try Self.used()
        let path = try #require(House.paths(below: house.state).first { $0.hasSuffix("/contacts.sqlite") })
        var bytes = try #require(House.bytes(of: path))
        if how == "newer" { bytes[63] += 1 } else { bytes = Array(bytes.prefix(2_000)) }
        try House.write(bytes, to: path)
        try house.start()
        let keeper = try house.app("keeper")
        #expect(try keeper.call("GetAuthorization").word == "full")
        #expect(try keeper.fetch().error == "StoreUnavailable")
        #expect(try keeper.save([App.adding(given: "Kurt")]).error == "StoreUnavailable")
        let folder = path.dropLast("/contacts.sqlite".count)
        let cause = how == "newer" ? "it was written by a later contactbrokerd" : "it is damaged and was left as it is"
        #expect(house.journal.contains("the address book in \(folder) is unavailable: \(cause)"))
        // One log line for several calls.
        #expect(house.journal.ranges(of: " is unavailable: ").count == 1)
        let status = try house.administrator().call("io.contactbroker.Admin.GetStatus")["status"]
        #expect(status?["lastProblem"]?.string?.contains(cause) == true)
        #expect(House.bytes(of: path) == bytes)
        try house.stop()
        #expect(House.bytes(of: path) == bytes)
    }

    @Test(
        "On a full disk no save is partial and reads are exact; with free space saves succeed again",
        .enabled(if: getuid() == 0 && Surroundings.smallDisk(megabytes: 1).canBeEntered, "needs root, to mount"))
    func fullDisk() throws {
        let house = try House(in: .smallDisk(megabytes: 6))
        let person = try house.person()
        let app = try house.app("mail", .everything, by: person)
        // The disk, through the broker's mount namespace.
        let disk = "/proc/\(try #require(house.daemon).pid)/root\(house.state)"
        try House.write([UInt8](repeating: 1, count: 2_000_000), to: disk + "/ballast")
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
        #expect(told(withRoom) == Set(saved), "\(withRoom.text.prefix(300)) \(house.journal)")
        let next = try app.save([App.adding(given: "After", family: "A")])
        #expect(next.word == "ok", "\(next.text)")
        #expect(try told(app.fetch("")) == Set(saved + ["After A"]))
        try Self.verify(house)
    }

    @Test(
        "A disclosure that cannot be recorded is refused, and succeeds once there is space again",
        .enabled(if: getuid() == 0 && Surroundings.smallDisk(megabytes: 1).canBeEntered, "needs root, to mount"))
    func fullDiskForTheAudit() throws {
        let house = try House(in: .smallDisk(megabytes: 6))
        let person = try house.person()
        let app = try house.keeper(with: person)
        let identifiers = try app.fetch().identifiers
        let disk = "/proc/\(try #require(house.daemon).pid)/root\(house.state)"
        // Fill the rest of the disk, to the last page.
        let ballast = open(disk + "/ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(ballast) }
        let piece = [UInt8](repeating: 1, count: 4_096)
        while write(ballast, piece, piece.count) > 0 {}
        var refused = false
        // Each call needs a record of its own. Call until the next record has room neither in the write-ahead log, a
        // part of which is allocated in advance, nor in the database file, into which a checkpoint moves the log.
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
        try Self.verify(house)
    }
}
