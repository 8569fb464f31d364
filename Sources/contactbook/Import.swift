import CommandOutput
import ContactsModel
import Glibc
import VCard

/// One run of `import`: reads cards, saves them in batches, and says what could not be taken.
struct Import {
    static let task = "import the contacts"
    /// Bounds of one save; the broker takes no frame of more than 16 MiB.
    static let changesPerSave = 200
    static let bytesPerSave = 4 * 1_048_576
    /// Cards named in the report; a file of something else must not fill the screen.
    private static let reported = 100

    /// `nil` to read and report only.
    let book: AddressBook?
    private(set) var taken = 0
    private(set) var refused = 0
    private var remarks = 0
    private var batch: [Entry] = []
    private var batchSize = 0

    private struct Entry {
        let contact: Contact
        /// Where it stands: file and line.
        let place: String
    }

    init(book: AddressBook?) {
        self.book = book
    }

    mutating func read(_ descriptor: CInt, name: String) throws {
        var reader = VCardReader()
        var buffer = [UInt8](repeating: 0, count: 256 * 1_024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let reason = String(cString: strerror(errno)).lowercased()
                throw CommandFailure("could not \(Self.task): \(name): \(reason)", .notTried)
            }
            if count == 0 { break }
            reader.append(Array(buffer[..<count]))
            while let item = reader.next() { try take(item, name) }
        }
        reader.finish()
        while let item = reader.next() { try take(item, name) }
    }

    /// Saves what is left.
    mutating func finish() throws {
        try save()
        Speech.endProgress()
        if remarks > Self.reported { Speech.say("and \(remarks - Self.reported) more") }
    }

    private mutating func take(_ item: VCardReader.Item, _ file: String) throws {
        switch item {
        case .unreadable(let problem): refuse("\(file):\(problem.line)", problem.reason.description)
        case .card(let card):
            for remark in card.remarks { report("\(file):\(remark.line)", remark.reason.description) }
            let place = "\(file):\(card.line)"
            do throws(ContactError) {
                try card.contact.validate(writing: card.contact.present)
            } catch {
                switch error {
                case .invalidContact(let key, let reason): refuse(place, "\(key): \(reason)")
                case .limitExceeded(let limit, let maximum): refuse(place, "more than \(maximum) for \(limit)")
                case .invalidParameter(let name): refuse(place, "\(name) is not taken")
                }
                return
            }
            let size = Self.size(of: card.contact)
            if batch.count == Self.changesPerSave || batchSize + size > Self.bytesPerSave { try save() }
            batch.append(Entry(contact: card.contact, place: place))
            batchSize += size
        }
    }

    /// Saves the batch. A contact that the broker does not take is left out, and the others are saved without it.
    private mutating func save() throws {
        var entries = batch
        batch = []
        batchSize = 0
        while !entries.isEmpty {
            guard let book else {
                taken += entries.count
                return
            }
            do {
                _ = try book.save(entries.map { .add($0.contact) })
                taken += entries.count
                Speech.progress("\(taken) contacts added")
                return
            } catch let failure as SaveFailure {
                guard let index = failure.index, entries.indices.contains(index) else {
                    throw stopped("could not \(Self.task): \(failure.reason)", try: nil, .notTried)
                }
                refuse(entries.remove(at: index).place, failure.reason)
            } catch let failure as CommandFailure {
                throw stopped(failure.message, try: failure.advice, failure.code)
            }
        }
    }

    /// Says how far one came: what was saved stays saved.
    private func stopped(_ message: String, try advice: String?, _ code: CommandFailure.Code) -> CommandFailure {
        Speech.endProgress()
        return CommandFailure(taken == 0 ? message : "\(message) (\(taken) were added before)", try: advice, code)
    }

    private mutating func refuse(_ place: String, _ reason: String) {
        refused += 1
        report(place, reason)
    }

    private mutating func report(_ place: String, _ reason: String) {
        remarks += 1
        guard remarks <= Self.reported else { return }
        Speech.endProgress()
        Speech.say("\(place): \(reason)")
    }

    /// About as many bytes as it takes on the wire; the picture and the content lines are what can be long.
    private static func size(of contact: Contact) -> Int {
        2_048 + contact.imageData.utf8.count + contact.note.utf8.count
            + contact.extraProperties.reduce(0) { $0 + $1.utf8.count }
    }
}
