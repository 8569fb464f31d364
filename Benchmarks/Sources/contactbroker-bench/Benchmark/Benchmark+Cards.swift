import BrokerModel
import BrokerVCard
import Glibc

extension Benchmark {
    /// Measures reading and writing vCards, and has python-vobject do the same with the same cards.
    mutating func measureCards() throws {
        let writer = VCardWriter(version: .v3_0)
        let contacts = (0..<size).map(SampleContacts.contact)
        var bytes: [UInt8] = []
        var best = Int64.max
        for _ in 0..<Self.rounds {
            bytes.removeAll(keepingCapacity: true)
            let start = Clock.now()
            for contact in contacts { bytes += writer.card(contact) }
            best = min(best, Clock.now() - start)
        }
        let writing = Self.rate(bytes.count, best)
        best = .max
        for _ in 0..<Self.rounds {
            let start = Clock.now()
            guard try Self.read(bytes) == size else { throw Failure("not every card was read") }
            best = min(best, Clock.now() - start)
        }
        report.figures.append(Figure(name("vCard parse"), Self.rate(bytes.count, best)))
        report.figures.append(Figure(name("vCard write"), writing))
        try measureVobject(bytes)
    }

    /// Reads the cards in chunks, as `contactbook import` does.
    private static func read(_ bytes: [UInt8]) throws -> Int {
        var reader = VCardReader()
        var count = 0
        for start in stride(from: 0, to: bytes.count, by: 262_144) {
            reader.append(Array(bytes[start..<min(start + 262_144, bytes.count)]))
            while let item = reader.next() {
                guard case .card(let card) = item, card.remarks.isEmpty else {
                    throw Failure("a card was not read whole")
                }
                count += 1
            }
        }
        reader.finish()
        return count
    }

    private static func rate(_ bytes: Int, _ nanoseconds: Int64) -> Amount {
        .throughput(Double(bytes) * 1_000 / Double(max(1, nanoseconds)))
    }

    /// Measures python-vobject with only 500 of the cards, because it is slow.
    private mutating func measureVobject(_ bytes: [UInt8]) throws {
        guard let python = getenv("CONTACTBROKER_PYTHON").map({ String(cString: $0) }) else {
            report.remarks.append("python-vobject was not measured: CONTACTBROKER_PYTHON is not set (make python).")
            return
        }
        let path = scratch.state + "/vobject.vcf"
        guard let file = fopen(path, "w") else { throw Failure(system: "could not write \(path)") }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw Failure(system: "could not write \(path)") }
        let child = try ChildProcess(python, ["-c", Self.vobject, path])
        let answer = try child.numbers(within: 120)
        child.waitForEnd()
        guard answer.count == 3 else { throw Failure("python-vobject gives no figures") }
        let size = Int(answer[0])
        report.figures.append(Figure(name("vCard parse, python-vobject"), Self.rate(size, answer[1])))
        report.figures.append(Figure(name("vCard write, python-vobject"), Self.rate(size, answer[2])))
    }

    /// Prints the size in bytes, the nanoseconds of reading and the nanoseconds of writing.
    private static let vobject = """
        import sys, time, vobject
        cards = open(sys.argv[1], encoding="utf-8", newline="").read().split("END:VCARD\\r\\n")[:500]
        text = "END:VCARD\\r\\n".join(cards) + "END:VCARD\\r\\n"
        start = time.perf_counter_ns()
        read = list(vobject.readComponents(text))
        middle = time.perf_counter_ns()
        written = [card.serialize() for card in read]
        print(len(text.encode()), middle - start, time.perf_counter_ns() - middle, flush=True)
        """
}
