import BrokerCommandOutput
import BrokerJSON
import BrokerModel

/// Says that retention removed audit records from the period that a person asked about.
enum RemovedRecords {
    /// - Parameter reply: a reply of the broker that has `removedUntil` if records of the period were removed.
    static func day(_ reply: JSONValue) -> String? { reply["removedUntil"]?.string.map { Speech.clean($0) } }

    static func say(_ day: String?) {
        if let day { Speech.say("retention removed the audit's records up to \(day), so they are not shown") }
    }
}

/// The last removal by retention, as `VerifyAudit` names it.
struct VerifiedRemoval: Equatable {
    /// The last removed record, and its hash.
    let sequence: Int64
    let hash: String
    /// The record that announces the removal.
    let record: Int64
    /// Its day.
    let until: String
    /// When it was removed, in seconds since 1970.
    let time: Int64

    init?(_ json: JSONValue?) {
        guard let json, let sequence = json["sequence"]?.integer, let hash = json["hash"]?.string,
            let record = json["record"]?.integer, let until = json["until"]?.string,
            let time = json["time"]?.string.flatMap(Timestamp.seconds)
        else { return nil }
        (self.sequence, self.hash, self.record, self.time) = (sequence, hash, record, time)
        self.until = Speech.clean(until)
    }

    private var when: String { LocalTime.text(Timestamp.text(seconds: time)) }

    var words: String {
        "\(sequence == 1 ? "record 1" : "records 1 to \(sequence)"), up to \(until), removed by retention on \(when); record "
            + "\(record) says so"
    }

    /// Why the journal contradicts the removal; `nil` if it does not.
    ///
    /// Somebody who can write the broker's files can remove records and add one that says that retention did so, at any time.
    /// But the broker also reports each removal to the journal, so a journal that names an earlier record than the one
    /// that announces the removal has that report.
    func contradiction(_ journal: JournalHeads) -> String? {
        guard journal.heads.contains(where: { $0.sequence < record }) else { return nil }
        let isReported = journal.removals.contains { $0.sequence == sequence && $0.hash == hash }
        return isReported
            ? nil
            : "the audit says that retention removed records 1 to \(sequence) on \(when), but the journal, which goes back "
                + "further, has no report of it"
    }
}
