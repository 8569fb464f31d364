import CommandOutput
import ContactsModel
import VCard

/// One run of `import`: reads cards, saves them in batches, and says what could not be taken.
struct Import {
    static let task = "import the contacts"
    /// Bounds of one save; the broker takes no frame of more than 16 MiB.
    static let changesPerSave = 1_000
    static let bytesPerSave = 4 * 1_048_576
    /// Cards named in the report; a file of something else must not fill the screen.
    private static let reported = 100

    /// The person wants no more.
    struct Interrupted: Error {}

    /// `nil` to read and report only.
    private let book: AddressBook?
    private let interruption: Interruption
    /// Bytes of all files, where that is known.
    private let size: Int?
    private var sizeRead = 0
    private(set) var taken = 0
    private(set) var refused = 0
    /// Where the last contact stands that was taken.
    private var lastPlace = ""
    /// Contacts of a save that was left before it was answered.
    private var doubtful = 0
    private var remarks = 0
    private var batch: [Entry] = []
    /// Sent to be saved, and not answered yet.
    private var underWay: [Entry] = []
    private var batchSize = 0

    private struct Entry {
        let contact: Contact
        /// Where it stands: file and line.
        let place: String
    }

    init(book: AddressBook?, size: Int?, interruption: Interruption) {
        self.book = book
        self.size = size
        self.interruption = interruption
    }

    mutating func read(_ file: ImportedFile) throws {
        var reader = VCardReader()
        var buffer = [UInt8](repeating: 0, count: 256 * 1_024)
        var isEmpty = true
        var isOver = false
        while !isOver {
            guard interruption.hasNotCome(before: file.descriptor) else {
                try settle()
                throw Interrupted()
            }
            let bytes: ArraySlice<UInt8>
            do {
                bytes = try file.read(into: &buffer)
            } catch let failure as CommandFailure {
                try settle()
                throw stopped(failure.message, try: failure.advice, failure.code)
            }
            isOver = bytes.isEmpty
            if isOver { reader.finish() } else { reader.append(Array(bytes)) }
            sizeRead += bytes.count
            while let item = reader.next() {
                isEmpty = false
                try take(item, file.name)
            }
            showProgress()
        }
        if isEmpty { report(file.name, "no vCard in it") }
    }

    /// Saves what is left.
    mutating func finish() throws {
        try save()
        try settle()
        Speech.endProgress()
        if remarks > Self.reported { Speech.say("and \(remarks - Self.reported) more") }
    }

    /// How far one came, for whoever must go on from there.
    var soFar: String {
        let contacts = "\(Self.contacts(taken)) \(taken == 1 ? "was" : "were")"
        let last = taken == 0 ? "" : ", the last from \(lastPlace)"
        let doubt = doubtful == 0 ? "" : "; of \(doubtful) more it is not known"
        return "\(contacts) \(book == nil ? "read" : "added")\(last)\(doubt)"
    }

    static func contacts(_ count: Int) -> String { count == 1 ? "1 contact" : "\(count) contacts" }

    private func showProgress() {
        let share = size.map { $0 == 0 ? "" : ", \(min(100, sizeRead * 100 / $0)) % read" } ?? ""
        Speech.progress("\(Self.contacts(taken)) \(book == nil ? "can be added" : "added")\(share)")
    }

    private mutating func take(_ item: VCardReader.Item, _ file: String) throws {
        switch item {
        case .unreadable(let problem): refuse("\(file):\(problem.line)", problem.reason.description)
        case .group(let group): refuse("\(file):\(group.line)", "a group, not a contact")
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

    /// Has the batch saved. While the broker does, the next one is read; before it is sent, the answer is waited for.
    private mutating func save() throws {
        try settle()
        underWay = batch
        batch = []
        batchSize = 0
        if !underWay.isEmpty { try send() }
    }

    private mutating func send() throws {
        guard !interruption.hasCome else {
            underWay = []
            throw Interrupted()
        }
        do {
            try book?.beginSave(underWay.map { .add($0.contact) })
        } catch {
            throw failed(error)
        }
    }

    /// Waits for the answer to what is under way. A contact that the broker does not take is left out, and the others
    /// are saved without it.
    private mutating func settle() throws {
        while let last = underWay.last {
            do {
                guard try book?.endSave(until: interruption) != false else {
                    doubtful = underWay.count
                    underWay = []
                    throw Interrupted()
                }
                taken += underWay.count
                lastPlace = last.place
                underWay = []
                showProgress()
            } catch let failure as SaveFailure {
                guard let index = failure.index, underWay.indices.contains(index) else { throw failed(failure) }
                refuse(underWay.remove(at: index).place, failure.reason)
                if !underWay.isEmpty { try send() }
            } catch {
                throw failed(error)
            }
        }
    }

    /// Nothing is under way any more.
    private mutating func failed(_ error: any Error) -> any Error {
        underWay = []
        switch error {
        case let failure as SaveFailure:
            return stopped("could not \(Self.task): \(failure.reason)", try: nil, .notTried)
        case let failure as CommandFailure: return stopped(failure.message, try: failure.advice, failure.code)
        default: return error
        }
    }

    /// Says how far one came: what was saved stays saved.
    private func stopped(_ message: String, try advice: String?, _ code: CommandFailure.Code) -> CommandFailure {
        Speech.endProgress()
        return CommandFailure(taken == 0 ? message : "\(message) (\(soFar))", try: advice, code)
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
