import BrokerCommandOutput
import BrokerContactFiles
import Glibc

/// A folder of files with one card each (vdirsyncer.pimutils.org, The Vdir Storage Format).
///
/// A list in the folder records the files that this program wrote, with their digests. A file that does not
/// match the list belongs to another program. Such a file is never deleted, and is overwritten only if
/// `overwrites` is set.
///
/// Other users may be able to write to the folder or to the one above it. Therefore no link is followed, except the
/// person's own link to the folder.
final class VdirOutput: CardOutput {
    private static let list = ".contactbook"
    /// The maximum size of the list, and of a card to compare, in bytes.
    private static let longest = 64 * 1_048_576
    /// The number of files that are synced together. Each has open descriptors.
    private static let mostWaiting = 200

    private let path: String
    private let task: String
    private let folder: CInt
    private let overwrites: Bool
    private let isWhole: Bool
    /// Digests of the files written by the last run, by name.
    private var before: [String: String] = [:]
    private var now: [String: String] = [:]
    private var seen: Set<String> = []
    private var kept = 0
    /// Written files that are not yet in place.
    private var waiting: [OutputFile] = []

    /// - Parameter isWhole: whether to delete the files of contacts that this export does not contain.
    init(at path: String, overwrites: Bool, isWhole: Bool, to task: String) throws {
        (self.path, self.task, self.overwrites, self.isWhole) = (path, task, overwrites, isWhole)
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw OutputFile.failure(task, path, errno) }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, ![0, getuid()].contains(status.st_uid) {
            throw CommandFailure(
                "could not \(task): \(Speech.clean(path)) is another user's link", try: "name another folder", .notTried
            )
        }
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw OutputFile.failure(task, path, errno) }
        before = try readList()
    }

    deinit { close(folder) }

    /// Reads the list. Without it, all files belong to other programs.
    private func readList() throws -> [String: String] {
        let shown = "\(Speech.clean(path))/\(Self.list)"
        let bytes: [UInt8]
        do throws(PlainFile.Failure) {
            bytes = try PlainFile.read(Self.list, in: folder, atMost: Self.longest)
        } catch {
            if case .system(ENOENT) = error { return [:] }
            throw CommandFailure(
                "could not \(task): \(shown): \(error)", try: "remove it, or export to another folder", .notTried)
        }
        var files: [String: String] = [:]
        var isDamaged = bytes.last != UInt8(ascii: "\n")
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            // Names with a path are damage too, because this program never writes them.
            guard parts.count == 2, !parts[1].contains("/"), parts[1].hasSuffix(VdirName.ending) else {
                isDamaged = true
                continue
            }
            files[String(parts[1])] = String(parts[0])
        }
        if isDamaged {
            Speech.say("\(shown) is damaged: the files that it does not list are taken for another program's")
        }
        return files
    }

    /// Throws if the folder has cards that this program did not write, or wrote with the cards' own UIDs. With other
    /// UIDs, an export would add each of these contacts once more.
    func refuseUnlessAlone() throws {
        let names = (try? PlainFile.names(in: folder)) ?? []
        guard
            let other = names.first(where: {
                $0.hasSuffix(VdirName.ending) && !(before[$0] != nil && VdirName.isMade($0))
            })
        else { return }
        throw CommandFailure(
            "could not \(task): contactbook may not see the UIDs of your cards, and \(Speech.clean(path)) has cards with "
                + "UIDs of their own, such as \(Speech.clean(other)); it would have them twice",
            try: "let contactbook see whole cards: contact-agent; or export to a new folder", .refused)
    }

    func write(_ card: [UInt8], uid: String, spare: String) throws {
        var name = VdirName.of(uid: uid)
        if !seen.insert(name).inserted {
            name = VdirName.of(uid: spare)
            seen.insert(name)
        }
        let digest = ContactDigest.ofFile(card)
        do throws(PlainFile.Failure) {
            let there = try PlainFile.read(name, in: folder, atMost: Self.longest)
            let theirs = ContactDigest.ofFile(there)
            if there == card {
                // If another program wrote the same content, the file remains that program's. After an export that was
                // killed, the list has an older digest.
                if before[name] != nil { now[name] = digest }
                return
            }
            guard overwrites || before[name] == theirs else { return keep(name, "changed by another program") }
        } catch {
            switch error {
            case .system(ENOENT): break
            case .notRegular, .tooLarge, .system: return keep(name, "not a file that contactbook wrote")
            }
        }
        try put(card, as: name)
        now[name] = digest
    }

    /// Writes a file that ``settle()`` puts in place.
    private func put(_ bytes: [UInt8], as name: String) throws {
        let file = try OutputFile(at: "\(path)/\(name)", to: task, followsLink: false)
        try file.write(bytes)
        waiting.append(file)
        if waiting.count == Self.mostWaiting { try settle() }
    }

    /// Puts the written files in place, each of them synced before.
    private func settle() throws {
        // One sync of everything is faster than many of one file. Each fsync then finds nothing to write, and reports
        // whether the file's bytes could be written.
        if waiting.count > 1 { sync() }
        for file in waiting {
            guard fsync(file.fileDescriptor) == 0 else { throw OutputFile.failure(task, path, errno) }
            try file.finish(isSynced: false)
        }
        waiting = []
        guard fsync(folder) == 0 else { throw OutputFile.failure(task, path, errno) }
    }

    func finish() throws {
        try settle()
        for (name, digest) in before where now[name] == nil {
            guard isWhole, !seen.contains(name) else {
                // The file is not part of this export, or was kept because it differs. It stays on the list.
                now[name] = digest
                continue
            }
            guard let there = try? PlainFile.read(name, in: folder, atMost: Self.longest) else { continue }
            if ContactDigest.ofFile(there) == digest {
                unlinkat(folder, name, 0)
            } else {
                keep(name, "its contact is no more, but another program has changed it")
            }
        }
        // A list without files has one empty line. A list without a byte is damaged.
        let lines = now.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }.joined()
        try put(Array((lines.isEmpty ? "\n" : lines).utf8), as: Self.list)
        try settle()
        guard kept > 0 else { return }
        throw CommandFailure(
            kept == 1 ? "1 file was left as it is" : "\(kept) files were left as they are",
            try: "to write over what can be: add --overwrite", .refused)
    }

    private func keep(_ name: String, _ reason: String) {
        kept += 1
        guard kept <= 100 else { return }
        Speech.say("\(Speech.clean(path))/\(name): \(reason); left as it is")
    }
}
