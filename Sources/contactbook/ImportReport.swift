import BrokerCommandOutput

/// What an import tells the person: its progress, what it leaves out, and its result.
final class ImportReport {
    /// The maximum number of lines in the report. Without it, a file in another format could fill the screen.
    private static let reported = 100

    private let isDryRun: Bool
    /// Total bytes to read, if known.
    private let size: Int?
    var sizeRead = 0
    var taken = 0
    private(set) var refused = 0
    var skipped = 0
    var mergedCount = 0
    /// The number of duplicates with values in keys that this program may not read.
    var unseen = 0
    /// The origin of the last contact that was saved.
    var lastPlace = ""
    /// The number of contacts in saves to which the broker did not reply.
    var doubtful = 0
    private var remarks = 0

    init(isDryRun: Bool, size: Int?) {
        self.isDryRun = isDryRun
        self.size = size
    }

    /// Describes how duplicates were handled; shown after the number of added contacts. Empty if there were
    /// none.
    var duplicates: String {
        var parts: [String] = []
        if skipped > 0 { parts.append("\(Count.grouped(skipped)) \(skipped == 1 ? "was" : "were") there already") }
        if mergedCount > 0 {
            parts.append(
                "\(Count.grouped(mergedCount)) \(isDryRun ? "can be merged" : "merged") into what was there")
        }
        return parts.joined(separator: ", ")
    }

    /// The progress so far, for a person who has to resume the import.
    var soFar: String {
        let contacts = "\(Count.words(taken, "contact")) \(taken == 1 ? "was" : "were")"
        let last = taken == 0 || lastPlace.isEmpty ? "" : ", the last from \(lastPlace)"
        let doubt = doubtful == 0 ? "" : "; \(Count.grouped(doubtful)) more may have been added"
        return "\(contacts) \(isDryRun ? "read" : "added")\(last)\(doubt)"
    }

    func showProgress() {
        let share = size.map { $0 == 0 ? "" : ", \(min(100, sizeRead * 100 / $0)) % read" } ?? ""
        Speech.progress("\(Count.words(taken, "contact")) \(isDryRun ? "can be added" : "added")\(share)")
    }

    /// Adds the progress to the failure's message, because saved contacts stay saved.
    func stopped(_ failure: CommandFailure) -> CommandFailure {
        if taken == 0, doubtful == 0 { return failure }
        return CommandFailure("\(failure.message) (\(soFar))", try: failure.advice, failure.code)
    }

    func refuse(_ place: String, _ reason: String) {
        refused += 1
        remark(place, reason)
    }

    func remark(_ place: String, _ reason: String) {
        remarks += 1
        guard remarks <= Self.reported else { return }
        Speech.say("\(place): \(reason)")
    }

    /// Ends the line with the progress, and says how many lines were left out.
    func end() {
        Speech.endProgress()
        if remarks > Self.reported { Speech.say("and \(remarks - Self.reported) more") }
    }
}
