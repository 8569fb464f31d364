import BrokerJSON

extension TestApp {
    /// - Parameter more: further parameters of the call, as JSON.
    func takeBack(_ group: String = "g", _ more: String = "") throws -> Answer {
        try call("TakeBack", #"{"group":"\#(group)","mayAsk":false\#(more.isEmpty ? "" : ",")\#(more)}"#)
    }
}

/// Returns what a reply of `TakeBack` counts, without the zeros.
func counts(_ answer: Answer) -> [String: Int64] {
    let names = ["returned", "changed", "removed", "groups", "others"]
    return Dictionary(uniqueKeysWithValues: names.map { ($0, answer.parameters[$0]?.integer ?? -1) })
        .filter { $0.value != 0 }
}
