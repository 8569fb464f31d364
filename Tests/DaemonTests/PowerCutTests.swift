import Glibc
import Testing

@Suite("A kill or a power cut after any operation on files", .timeLimit(.minutes(30)))
struct PowerCutTests {
    @Test(
        "Killed: the next start serves and saves, and nothing acknowledged is lost", .serialized,
        arguments: Change.allCases)
    func killed(change: Change) throws { try EndedWriter(change).endAfterEach(losing: .nothing) }

    @Test(
        "With everything lost that was not synced, the next start serves and saves, and nothing acknowledged is lost",
        .serialized, arguments: Change.allCases)
    func everything(change: Change) throws { try EndedWriter(change).endAfterEach(losing: .everything) }

    @Test(
        "If names were written before bytes, the next start serves and saves, and nothing acknowledged is lost",
        .serialized, arguments: Change.allCases)
    func bytes(change: Change) throws { try EndedWriter(change).endAfterEach(losing: .bytes) }

    @Test("A backup file is complete or the one before, and the new one once contactctl has said so")
    func backupFile() throws {
        let fixture = try DaemonFixture()
        let keeper = try fixture.keeper(with: fixture.person())
        let cut = try PowerCut(below: fixture.folder + "/backups")
        try #require(mkdir(fixture.folder + "/backups", 0o700) == 0)
        let path = fixture.folder + "/backups/file"
        func backUp(by prefix: [String] = ["/usr/bin/env"]) throws -> Command {
            let words = [DaemonFixture.programs + "/contactctl", "backup", "--plain", path]
            return try Command(prefix[0], prefix.dropFirst() + words, in: fixture)
        }
        try #require(try backUp().end == .exited(0))
        let old = DaemonFixture.text(of: path)
        try #require(try keeper.save([App.adding(given: "Later")]).word == "ok")
        try #require(try backUp(by: cut.prefix(endingAfter: 0, losing: .nothing)).end == .exited(0))
        let all = cut.count
        for loss in PowerCut.Loss.allCases {
            for place in 1...all {
                try DaemonFixture.write(Array(old.utf8), to: path)
                let made = try backUp(by: cut.prefix(endingAfter: place, losing: loss))
                #expect(made.end == .signalled(SIGKILL))
                let text = DaemonFixture.text(of: path)
                let moment: Comment = "\(loss), operation \(place) of \(all), \(cut.last)"
                let isNew = text.contains("Later") && text.split(separator: "\n").last?.hasPrefix(#"{"code""#) == true
                #expect(isNew || text == old && !made.output.contains("saved"), moment)
            }
        }
    }
}
