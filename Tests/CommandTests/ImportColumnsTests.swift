import BrokerJSON
import Glibc
import Testing

@Suite("Columns that contactbook import cannot keep")
struct ImportColumnsTests {
    private static let head = "First Name,Last Name,E-mail Address,Shoe Size,Star Sign,Locker"

    private func broker() throws -> ScriptedBroker {
        try ScriptedBroker { method, parameters in
            guard method == "SaveContacts" else { return .reply("{\"status\":\"full\",\"groups\":[]}") }
            let count = parameters["changes"]?.count ?? 0
            let identifiers = (0..<count).map { "\"\($0)\"" }.joined(separator: ",")
            return .reply("{\"identifiers\":[\(identifiers)],\"historyToken\":\"\"}")
        }
    }

    /// Imports a file, or pipes it into the program.
    private func imported(
        _ text: String, _ broker: ScriptedBroker, flags: [String] = [], isPiped: Bool = false
    ) throws -> RunningProgram.Outcome {
        let path = broker.folder + "/file"
        defer { unlink(path) }
        guard isPiped else {
            let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            try #require(write(file, text, text.utf8.count) == text.utf8.count)
            close(file)
            return try RunningProgram("contactbook", ["import", path] + flags, runtime: broker.folder).finish()
        }
        try #require(mkfifo(path, 0o600) == 0)
        // Opening the FIFO for both directions does not wait for the program.
        let writer = open(path, O_RDWR | O_CLOEXEC)
        let program = try RunningProgram(
            "contactbook", ["import", "-"] + flags, runtime: broker.folder, input: path)
        try #require(write(writer, text, text.utf8.count) == text.utf8.count)
        close(writer)
        return try program.finish()
    }

    @Test("Up to three columns without a field are left out and named once, with their numbers of values")
    func few() throws {
        let broker = try broker()
        let outcome = try imported(Self.head + "\nAda,L,a@x.example,37,,12\nEve,,,38,,\n", broker)
        #expect(outcome.code == 0 && outcome.output == "added 2 contacts of 1 file\n")
        let name = broker.folder + "/file"
        #expect(
            outcome.error == "\(name): contacts have no field for Shoe Size (2 values), Locker (1 value); left out\n")
    }

    @Test(
        "More than three stop the import before anybody is asked, unless --drop-columns is given",
        arguments: [false, true])
    func many(isPiped: Bool) throws {
        let text = Self.head + ",Pet\nAda,L,a@x.example,37,Leo,12,Cat\n"
        let broker = try broker()
        let outcome = try imported(text, broker, isPiped: isPiped)
        #expect(outcome.code == 2 && outcome.output.isEmpty && broker.asked.isEmpty)
        #expect(
            outcome.error.contains(
                "Shoe Size (1 value), Star Sign (1 value), Locker (1 value), Pet (1 value)\nnothing was added"),
            "\(outcome.error)")
        let dropped = try imported(text, broker, flags: ["--drop-columns"], isPiped: isPiped)
        #expect(dropped.code == 0 && dropped.output == "added 1 contact of 1 file\n", "\(dropped.error)")
        #expect(dropped.error.contains("Pet (1 value); left out"))
    }

    @Test("Rows and cards from a pipe are added, although the pipe is read twice")
    func pipes() throws {
        let row = "First Name,Last Name,E-mail Address\nAda,L,a@x.example\n"
        let card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nEND:VCARD\r\n"
        let entry = "dn: cn=Ada\ncn: Ada\n"
        for text in [row, card, entry] {
            let outcome = try imported(text, try broker(), isPiped: true)
            #expect(outcome.code == 0 && outcome.output == "added 1 contact of 1 file\n", "\(outcome.error)")
        }
    }

    @Test("A thousand groups of new cards take a few saves")
    func groups() throws {
        let broker = try broker()
        let labels = { (row: Int) in (0..<10).map { "G\((row * 10 + $0) % 1_000)" }.joined(separator: " ::: ") }
        let rows = (0..<400).map { "N\($0),L,\(labels($0)),n\($0)@x.example" }
        let text = "First Name,Last Name,Labels,E-mail 1 - Value\n" + rows.joined(separator: "\n")
        let outcome = try imported(text, broker)
        #expect(outcome.code == 0 && outcome.output == "added 400 contacts of 1 file\n", "\(outcome.error)")
        // 400 cards, 1,000 groups and 4,000 members.
        #expect(broker.asked.count { $0.method == "SaveContacts" } <= 8)
    }
}
