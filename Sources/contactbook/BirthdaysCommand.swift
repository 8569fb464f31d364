import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerFormatting
import BrokerModel
import Glibc

struct BirthdaysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "birthdays", abstract: "List birthdays, the next one first.",
        discussion: """
            In years without 29 February, such birthdays are on the 28th. Birthdays without a year have no age.
            """)

    @Flag(help: "All birthdays of this month, including past ones.") var month = false
    @Option(help: ArgumentHelp("Only the next n days; 0 is today.", valueName: "n")) var days: Int?

    func validate() throws {
        if let days, !(0...366).contains(days) { throw ValidationError("--days takes 0 to 366") }
        if month, days != nil { throw ValidationError("either --month or --days") }
    }

    func run() throws {
        let task = "list the birthdays"
        let today = LocalTime.text(Timestamp.text(seconds: Int64(time(nil)))).prefix(10)
        // With --month, days count from the first of the month.
        let passed = month ? Int(today.suffix(2)).map { $0 - 1 } ?? 0 : 0
        guard let calendar = BirthdayCalendar(today: month ? today.prefix(8) + "01" : String(today)) else {
            throw CommandFailure("could not \(task): the clock shows no day", .notTried)
        }
        let book = try AddressBook(to: task)
        let keys = AddressBook.listKeys.union(ContactKeySet([.birthday, .nonGregorianBirthday]))
        var found: [(birthday: BirthdayCalendar.Birthday, contact: Contact)] = []
        var others = 0
        try book.fetch(keys) { wire in
            if wire.contact.birthday.isEmpty, !wire.contact.nonGregorianBirthday.isEmpty { others += 1 }
            guard let next = calendar.next(wire.contact.birthday) else { return }
            let isWanted = month ? next.next.hasPrefix(today.prefix(7)) : next.daysUntil <= days ?? 366
            if isWanted { found.append((next, wire.contact)) }
        }
        if others > 0 {
            Speech.say("not shown: \(others) of other calendars; contactbook show says them")
        }
        guard !found.isEmpty else { throw CommandFailure("there is no birthday", .refused) }
        let names = PersonLocale.names
        var table = Table([Phrase.columnDay, .columnDaysLeft, .columnAge, .columnName].map { names.text($0) })
        // Contacts with the same day stay in the person's sort order.
        for (_, each) in found.enumerated().sorted(by: {
            ($0.element.birthday.daysUntil, $0.offset) < ($1.element.birthday.daysUntil, $1.offset)
        }) {
            let left = each.birthday.daysUntil - passed
            table.add([
                each.birthday.next,
                left == 0 ? names.text(.dayToday) : left < 0 ? names.text(.dayPast) : String(left),
                each.birthday.age.map(String.init) ?? "",
                ContactCard.name(each.contact) + (each.birthday.isMoved ? " (29 February)" : ""),
            ])
        }
        for line in table.lines { print(line) }
    }
}
