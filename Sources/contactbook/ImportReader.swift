import BrokerCommandOutput
import BrokerContactFiles
import BrokerVCard
import Glibc

/// The options for reading the files of an import.
struct ImportReading {
    /// The format of the files; `nil` detects it from the content.
    var format: FileFormat?
    var dates = DateOrder.monthFirst
    /// Whether to create groups for the cards' group names, for subfolders and for group cards.
    var makesGroups = true
}

extension ImportReading {
    /// The reader for a file that begins with these bytes; `nil` for vCards, and for a file in no known format.
    func rows(_ beginning: [UInt8]) -> (any RowReader)? {
        switch format ?? FileFormat(beginning: beginning.prefix(FileFormat.beginning)) {
        case .csv: CSVReader(dates: dates)
        case .ldif: LDIFReader()
        case .vcard, nil: nil
        }
    }
}

/// Reads the files of an import, and passes each card on.
struct ImportReader {
    var run: Import
    private let report: ImportReport
    private let groups: ImportedGroups
    private let interruption: Interruption

    init(_ run: Import) {
        self.run = run
        (report, groups, interruption) = (run.report, run.groups, run.interruption)
    }

    /// The maximum size of a file in a folder, in bytes. A file has one card. Of a card with more than 16 MiB, the
    /// longest property is left out.
    private static let cardSize = 64 * 1_048_576

    mutating func read(_ file: ImportedFile, _ reading: ImportReading) throws {
        if file.isFolder {
            try readFolder(file, reading)
        } else {
            try readStream(file, reading)
        }
    }

    // MARK: One file

    private mutating func readStream(_ file: ImportedFile, _ reading: ImportReading) throws {
        var buffer = [UInt8](repeating: 0, count: 256 * 1_024)
        var beginning: [UInt8] = []
        // One of these is set once the format is known.
        var cards: VCardReader?
        var rows: (any RowReader)?
        var columns = ImportedColumns()
        var isEmpty = true
        var isOver = false
        while !isOver {
            guard interruption.hasNotCome(before: file.descriptor) else {
                try run.saves.settle()
                throw Import.Interrupted()
            }
            let bytes: ArraySlice<UInt8>
            do {
                bytes = try file.read(into: &buffer)
            } catch let failure as CommandFailure {
                try run.saves.settle()
                throw report.stopped(failure)
            }
            isOver = bytes.isEmpty
            report.sizeRead += bytes.count
            var piece = Array(bytes)
            if cards == nil, rows == nil {
                // A pipe can return fewer bytes than the detection needs.
                beginning += piece
                guard isOver || beginning.count >= FileFormat.beginning else { continue }
                rows = reading.rows(beginning)
                if rows == nil { cards = VCardReader() }
                piece = beginning
                beginning = []
            }
            cards?.append(piece)
            rows?.append(piece)
            if isOver {
                cards?.finish()
                rows?.finish()
            }
            while let item = cards?.next() {
                isEmpty = false
                try take(item, file.name, reading, collection: nil)
            }
            while let item = rows?.next() {
                isEmpty = false
                try take(item, file.name, reading, &columns)
            }
            report.showProgress()
        }
        let leftOut = columns.description
        if !leftOut.isEmpty { report.remark(file.name, "contacts have no field for \(leftOut); left out") }
        if isEmpty { report.remark(file.name, rows == nil ? "no vCard, CSV or LDIF in it" : "no row in it") }
    }

    private mutating func take(
        _ item: RowItem, _ file: String, _ reading: ImportReading, _ columns: inout ImportedColumns
    ) throws {
        switch item {
        case .unreadable(let problem):
            report.refuse("\(file):\(problem.line)", Speech.clean(problem.reason.description))
        case .row(let row):
            for remark in row.remarks {
                if case .leftOut = remark.reason {
                    columns.add(remark.reason)
                } else {
                    report.remark("\(file):\(remark.line)", Speech.clean(remark.reason.description))
                }
            }
            try run.take(
                row.contact, at: "\(file):\(row.line)", groups: reading.makesGroups ? row.groups : [], uid: row.uid)
        case .group(let group):
            take(group.name, group.uid, group.members, "\(file):\(group.line)", reading, isKnownByUID: false)
        }
    }

    /// Takes a group of an imported file. A group without a name is ignored.
    private mutating func take(
        _ name: String, _ uid: String, _ members: [String], _ place: String, _ reading: ImportReading,
        isKnownByUID: Bool
    ) {
        let name = Speech.clean(name)
        guard reading.makesGroups, !name.isEmpty else { return }
        groups.cards.append(
            ImportedGroups.GroupCard(
                name: name, uid: uid, isKnownByUID: isKnownByUID && !uid.isEmpty, members: members, place: place))
    }

    /// - Parameter collection: the group for all cards of a folder.
    private mutating func take(
        _ item: VCardReader.Item, _ file: String, _ reading: ImportReading, collection: String?
    ) throws {
        switch item {
        case .unreadable(let problem): report.refuse("\(file):\(problem.line)", problem.reason.description)
        case .group(let group):
            let place = "\(file):\(group.line)"
            for remark in group.remarks { report.remark("\(file):\(remark.line)", remark.reason.description) }
            take(group.name, group.uid, group.members, place, reading, isKnownByUID: true)
        case .card(let card):
            for remark in card.remarks { report.remark("\(file):\(remark.line)", remark.reason.description) }
            let groups = reading.makesGroups ? ContactUID.categories(of: card.contact) : []
            try run.take(card.contact, at: "\(file):\(card.line)", groups: [collection].compactMap { $0 } + groups)
        }
    }

    // MARK: A folder

    /// Reads a vdir: a folder of files with one card each. The subfolders contain cards too, and become
    /// groups (vdirsyncer.pimutils.org, The Vdir Storage Format).
    private mutating func readFolder(_ folder: ImportedFile, _ reading: ImportReading) throws {
        let names = try folderNames(folder.descriptor, folder.name)
        var cards = 0
        for name in names where VdirName.isCard(name) {
            try readCard(name, in: folder.descriptor, "\(folder.name)/\(Speech.clean(name))", reading, nil)
            cards += 1
        }
        for name in names where !VdirName.isCard(name) {
            let inner = openat(folder.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard inner >= 0 else { continue }
            defer { close(inner) }
            let path = "\(folder.name)/\(Speech.clean(name))"
            let shown = try? PlainFile.read("displayname", in: inner, atMost: 4_096)
            let title = shown.map { Speech.clean(String(decoding: $0, as: UTF8.self)) } ?? ""
            let collection = reading.makesGroups ? (title.isEmpty ? Speech.clean(name) : title) : nil
            let inside = try folderNames(inner, path).filter(VdirName.isCard)
            // A collection has a name even if it has no cards. Any other folder without cards is something else.
            if inside.isEmpty, let collection, !title.isEmpty, !groups.knows(collection) {
                report.remark(path, "more than \(ImportedGroups.most) groups; not made")
            }
            for card in inside {
                try readCard(card, in: inner, "\(path)/\(Speech.clean(card))", reading, collection)
                cards += 1
            }
        }
        if cards == 0 { report.remark(folder.name, "no .vcf file in it") }
    }

    private mutating func folderNames(_ folder: CInt, _ path: String) throws -> [String] {
        do throws(PlainFile.Failure) {
            return try PlainFile.names(in: folder)
        } catch {
            try run.saves.settle()
            throw report.stopped(CommandFailure("could not \(Import.task): \(path): \(error)", .notTried))
        }
    }

    private mutating func readCard(
        _ name: String, in folder: CInt, _ path: String, _ reading: ImportReading, _ collection: String?
    ) throws {
        guard !interruption.hasCome else {
            try run.saves.settle()
            throw Import.Interrupted()
        }
        let bytes: [UInt8]
        do throws(PlainFile.Failure) {
            bytes = try PlainFile.read(name, in: folder, atMost: Self.cardSize)
        } catch {
            return report.refuse(path, "\(error); left out")
        }
        var reader = VCardReader()
        reader.append(bytes)
        reader.finish()
        var isEmpty = true
        while let item = reader.next() {
            isEmpty = false
            try take(item, path, reading, collection: collection)
        }
        if isEmpty { report.refuse(path, "no vCard in it") }
        report.showProgress()
    }
}
