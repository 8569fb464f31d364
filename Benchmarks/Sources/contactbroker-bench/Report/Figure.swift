import BrokerJSON

/// One line of the details: the name and the values of one measurement.
struct Figure {
    enum Value {
        case times(Samples)
        case amount(Amount)
    }

    let name: String
    let value: Value

    init(_ name: String, _ samples: Samples) {
        self.name = name
        value = .times(samples)
    }

    init(_ name: String, _ amount: Amount) {
        self.name = name
        value = .amount(amount)
    }

    static let header = ["details", "min", "p50", "p99"]

    var cells: [String] {
        switch value {
        case .times(let samples): [name] + [samples.least, samples.p50, samples.p99].map { Amount.time($0).text }
        case .amount(let amount): [name, "", amount.text, ""]
        }
    }

    func write(into writer: inout JSONWriter) {
        writer.object {
            $0.member("name", name)
            switch value {
            case .times(let samples):
                $0.member("unit", Amount.p50(samples).unit)
                $0.member("samples", samples.count)
                for (name, time) in [("min", samples.least), ("p50", samples.p50), ("p99", samples.p99)] {
                    $0.name(name)
                    $0.value(time)
                }
            case .amount(let amount):
                $0.member("unit", amount.unit)
                $0.name("value")
                $0.value(amount.value)
            }
        }
    }
}
