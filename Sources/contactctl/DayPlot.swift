import BrokerAuditReport

/// A plot with a bar for each day, as SVG for an HTML page.
enum DayPlot {
    private static let (width, height) = (400, 96)
    /// Room below the bars for the dates, and above them for the largest number.
    private static let (below, above) = (16, 14)

    /// - Parameter name: what the numbers are.
    static func markup(_ name: String, _ byDay: [Int: Int], _ period: ReportPeriod) -> Markup {
        let largest = byDay.values.max() ?? 0
        guard largest > 0 else { return "" }
        let days = byDay.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        let room = height - below - above
        // Bars and gaps are on whole pixels only if there is room; tenths keep 366 bars apart.
        let step = width * 10 / period.count
        let bar = max(step * 4 / 5, 1)
        var path = ""
        for (day, count) in days {
            let size = max(1, count * room / largest)
            path += "M\(tenths(day * step)) \(height - below)v-\(size)h\(tenths(bar))v\(size)z"
        }
        let top = days.first { $0.value == largest }.map { period.date($0.key) } ?? ""
        let list = days.map { "\(period.date($0.key)): \($0.value)" }.joined(separator: ", ")
        return """
            <figure><figcaption>\(name)</figcaption>\
            <svg viewBox="0 0 \(width) \(height)" role="img">\
            <title>\(name): \(largest) on \(top), the most</title><desc>\(list)</desc>\
            <path class="bars" d="\(path)"/>\
            <path class="axis" d="M0 \(height - below)h\(width)M0 \(above)h\(width)"/>\
            <text x="0" y="\(above - 3)">\(largest)</text>\
            <text x="0" y="\(height - 3)">\(period.date(0))</text>\
            <text class="end" x="\(width)" y="\(height - 3)">\(period.date(period.count - 1))</text></svg></figure>
            """
    }

    private static func tenths(_ number: Int) -> String { "\(number / 10).\(number % 10)" }
}
