import BrokerCommandOutput
import BrokerContactFiles
import Glibc

/// A folder of files with one card each (vdirsyncer.pimutils.org, The Vdir Storage Format).
///
/// A list in the folder records the files that this program wrote, with their digests. A file that does not
/// match the list belongs to another program. Such a file is never deleted, and is overwritten only if
/// `overwrites` is set.
final class VdirOutput: CardOutput {
    private static let list = ".contactbook"
    /// The maximum size of the list, and of a card to compare, in bytes.
    private static let longest = 64 * 1_048_576

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

    /// - Parameter isWhole: whether to delete the files of contacts that this export does not contain.
    init(at path: String, overwrites: Bool, isWhole: Bool, to task: String) throws {
        (self.path, self.task, self.overwrites, self.isWhole) = (path, task, overwrites, isWhole)
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw OutputFile.failure(task, path, errno) }
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw OutputFile.failure(task, path, errno) }
        let list = (try? PlainFile.read(Self.list, in: folder, atMost: Self.longest)) ?? []
        for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            // Ignore names with a path, because this program never writes them.
            guard parts.count == 2, !parts[1].contains("/"), parts[1].hasSuffix(VdirName.ending) else { continue }
            before[String(parts[1])] = String(parts[0])
        }
    }

    deinit { close(folder) }

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
            try: "at a terminal, repeat this and allow notes when you are asked; or export to a new folder", .refused)
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
                // If another program wrote the same content, the file remains that program's.
                if before[name] == digest { now[name] = digest }
                return
            }
            guard overwrites || before[name] == theirs else { return keep(name, "changed by another program") }
        } catch {
            switch error {
            case .system(ENOENT): break
            case .notRegular, .tooLarge, .system: return keep(name, "not a file that contactbook wrote")
            }
        }
        let file = try OutputFile(at: "\(path)/\(name)", to: task)
        try file.write(card)
        // Do not sync here: with many files, one sync at the end is faster.
        try file.finish(isSynced: false)
        now[name] = digest
    }

    func finish() throws {
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
        sync()
        let file = try OutputFile(at: "\(path)/\(Self.list)", to: task)
        try file.write(Array(now.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }.joined().utf8))
        try file.finish()
        guard kept > 0 else { return }
        throw CommandFailure(
            kept == 1 ? "1 file was left as it is" : "\(kept) files were left as they are",
            try: "to write over what can be: add --overwrite", .refused)
    }

    private func keep(_ name: String, _ reason: String) {
        kept += 1
        guard kept <= 100 else { return }
        Speech.endProgress()
        Speech.say("\(Speech.clean(path))/\(name): \(reason); left as it is")
    }
}
