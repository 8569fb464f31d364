import BrokerModel

/// Generates contacts. The same number gives the same contact on every machine.
///
/// The contacts use several scripts and have one to three phone numbers and e-mail addresses. On average
/// every second contact has an address, every third an organisation, every fifth a birthday and every tenth a
/// note. A contact takes about 600 bytes.
enum SampleContacts {
    private struct Script {
        let given: [String]
        let family: [String]
        let cities: [String]
        let country: String
        let code: String
        let prefix: String
    }

    private static let scripts = [
        Script(
            given: ["Anna", "James", "Mary", "Robert", "Joanne", "Annabel", "Thomas", "Susan", "Peter", "Laura"],
            family: [
                "Miller", "Smith", "Johnson", "O'Brien", "Taylor", "Hanna", "Walker", "Brown", "Clark", "Manning",
            ],
            cities: ["Springfield", "Leeds", "Dayton", "Bristol"], country: "United Kingdom", code: "gb",
            prefix: "+44 20 "),
        Script(
            given: ["Jürgen", "Käthe", "Björn", "Hannah", "Günther", "Änne", "Sören", "Marianne"],
            family: ["Müller", "Groß", "Schäfer", "Köhler", "Weiß", "Böhm", "Jäger", "Straßmann"],
            cities: ["München", "Köln", "Osnabrück", "Görlitz"], country: "Deutschland", code: "de", prefix: "+49 89 "),
        Script(
            given: ["Łukasz", "Zofia", "Świętosława", "Michał", "Żaneta", "Grażyna"],
            family: ["Wiśniewski", "Łuczak", "Dąbrowska", "Śliwiński", "Żak", "Wójcik"],
            cities: ["Łódź", "Kraków", "Wrocław"], country: "Polska", code: "pl", prefix: "+48 42 "),
        Script(
            given: ["Ελένη", "Γιώργος", "Άννα", "Δημήτρης", "Σοφία"],
            family: ["Παπαδόπουλος", "Νικολάου", "Γεωργίου", "Αντωνίου"],
            cities: ["Αθήνα", "Θεσσαλονίκη"], country: "Ελλάδα", code: "gr", prefix: "+30 210 "),
        Script(
            given: ["Анна", "Дмитрий", "Ольга", "Сергей", "Наталья", "Юлия"],
            family: ["Иванова", "Смирнов", "Кузнецова", "Щербаков", "Ёлкина"],
            cities: ["Київ", "Алматы", "Минск"], country: "Беларусь", code: "by", prefix: "+375 17 "),
        Script(
            given: ["伟", "芳", "秀英", "建国", "丽娟"], family: ["王", "李", "欧阳", "张", "陈"],
            cities: ["上海市", "成都市"], country: "中国", code: "cn", prefix: "+86 21 "),
        Script(
            given: ["花子", "太郎", "さくら", "健一"], family: ["山田", "佐藤", "鈴木", "高橋"],
            cities: ["大阪市", "札幌市"], country: "日本", code: "jp", prefix: "+81 6 "),
        Script(
            given: ["민준", "서연", "지훈", "하은"], family: ["김", "이", "박", "최"], cities: ["부산", "대구"],
            country: "대한민국", code: "kr", prefix: "+82 51 "),
        Script(
            given: ["محمد", "فاطمة", "ليلى", "يوسف"], family: ["الحسن", "حداد", "المصري", "خوري"],
            cities: ["عمّان", "بيروت"], country: "لبنان", code: "lb", prefix: "+961 1 "),
        Script(
            given: ["נועה", "דוד", "תמר", "יעל"], family: ["כהן", "לוי", "מזרחי", "פרץ"], cities: ["חיפה", "אילת"],
            country: "ישראל", code: "il", prefix: "+972 4 "),
        Script(
            given: ["अनन्या", "राहुल", "प्रिया", "अर्जुन"], family: ["शर्मा", "वर्मा", "पटेल", "सिंह"], cities: ["जयपुर", "पुणे"],
            country: "भारत", code: "in", prefix: "+91 20 "),
    ]

    private static let organizations = [
        "Northwind Instruments Ltd.", "Hafen & Söhne GmbH", "Bluebird Bicycle Cooperative", "Observatoire du Littoral",
    ]
    private static let streets = ["Harbour Street", "Lindenallee", "Rue des Écoles", "Station Road", "Hilltop Lane"]
    private static let labels = ["_$!<Home>!$_", "_$!<Work>!$_", "_$!<Mobile>!$_"]

    /// - Parameter inCrowd: whether every fourth contact gets one of many family names, so that a large
    ///   book has some very common beginnings and many rare ones.
    static func contact(_ number: Int, inCrowd: Bool) -> Contact {
        var contact = contact(number)
        guard inCrowd, number % 4 == 0 else { return contact }
        var random = Random(seed: ~UInt64(number))
        // The first syllables of the list occur far more often than the last ones.
        var name = (0..<2 + random.below(2)).map { _ in syllables[random.below(1 + random.below(syllables.count))] }
            .joined()
        name = name.prefix(1).uppercased() + name.dropFirst()
        contact.familyName = name
        return contact
    }

    private static let syllables = [
        "ber", "lin", "mar", "ko", "va", "sen", "hol", "da", "rich", "ste", "wil", "nor", "gar", "el", "fa", "ru", "ti",
        "mon", "pe", "bra", "dov", "zel", "kri", "ny", "tho", "ul", "jo", "qua", "öst", "ÿx",
    ]

    static func contact(_ number: Int) -> Contact {
        var random = Random(seed: UInt64(number))
        // At least two of three contacts have Latin letters, because one person's address book is mostly in
        // one script.
        let script = scripts[random.below(3) > 0 ? random.below(3) : random.below(scripts.count)]
        var contact = Contact()
        contact.givenName = random.pick(script.given)
        contact.familyName = random.pick(script.family)
        if random.below(4) == 0 { contact.middleName = random.pick(script.given) }
        if random.below(3) == 0 {
            contact.organizationName = random.pick(organizations)
            contact.departmentName = "Department of Measurements \(random.below(40))"
            contact.jobTitle = "Senior Coordinator"
        }
        if random.below(5) == 0 {
            contact.birthday = "19\(50 + random.below(50))-0\(1 + random.below(9))-1\(random.below(10))"
        }
        contact.phoneNumbers = (0..<1 + random.below(3)).map { place in
            // Each number occurs only once, because two people with the same name and number would be linked.
            let digits = "\(10_000_000 + (number * 4 + place) * 39_916_801 % 79_999_987)"
            return LabeledString(
                label: labels[(place + 2) % 3], value: script.prefix + digits.prefix(4) + " " + digits.suffix(4))
        }
        contact.emailAddresses = (0..<1 + random.below(3)).map { place in
            let address = "person.\(number).\(random.below(10_000))@mail\(place).example.org"
            return LabeledString(label: labels[place % 3], value: address)
        }
        if random.below(2) == 0 {
            var address = PostalAddress()
            address.label = labels[0]
            address.street = "\(random.pick(streets)) \(1 + random.below(200))"
            address.city = random.pick(script.cities)
            address.postalCode = "\(10_000 + random.below(90_000))"
            address.country = script.country
            address.isoCountryCode = script.code
            contact.postalAddresses = [address]
        }
        if random.below(10) == 0 {
            contact.note = "Met at the conference on coastal weather in \(1_990 + random.below(35)); likes tea."
        }
        return contact
    }

    /// SplitMix64: mixes a counter, so that consecutive values are unrelated.
    private struct Random {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0xD134_2543_DE82_EF95 &+ 1 }

        mutating func below(_ bound: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            mixed ^= mixed >> 31
            return Int(mixed % UInt64(bound))
        }

        mutating func pick(_ texts: [String]) -> String { texts[below(texts.count)] }
    }
}
