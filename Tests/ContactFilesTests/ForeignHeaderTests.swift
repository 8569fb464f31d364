import BrokerModel
import BrokerVCard
import Testing

@testable import BrokerContactFiles

@Suite("Column names in other languages, and columns without a field")
struct ForeignHeaderTests {
    static func items(_ bytes: [UInt8], dates: DateOrder = .monthFirst) -> [RowItem] {
        rowItems(of: bytes, from: CSVReader(dates: dates), chunk: max(1, bytes.count))
    }

    private func row(_ lines: String..., separator: String = "\r\n") throws -> ReadRow {
        let items = Self.items(Array(lines.joined(separator: separator).utf8))
        guard items.count == 1, case .row(let row)? = items.first else {
            Issue.record("\(items)")
            throw CancellationError()
        }
        return row
    }

    // MARK: Thunderbird

    /// The headers that Thunderbird writes.
    private static let thunderbirdHeaders = [
        """
        First Name,Last Name,Display Name,Nickname,Primary Email,Secondary Email,Screen Name,Work Phone,Home Phone,\
        Fax Number,Pager Number,Mobile Number,Home Address,Home Address 2,Home City,Home State,Home ZipCode,Home Country,\
        Work Address,Work Address 2,Work City,Work State,Work ZipCode,Work Country,Job Title,Department,Organization,\
        Web Page 1,Web Page 2,Birth Year,Birth Month,Birth Day,Custom 1,Custom 2,Custom 3,Custom 4,Notes
        """,
        """
        Vorname,Nachname,Anzeigename,Spitzname,Primäre E-Mail-Adresse,Sekundäre E-Mail-Adresse,Messenger-Name,\
        Tel. dienstlich,Tel. privat,Fax-Nummer,Pager-Nummer,Mobil-Tel.-Nr.,Privat: Adresse,Privat: Adresse 2,Privat: Ort,\
        Privat: Bundesland,Privat: PLZ,Privat: Land,Dienstlich: Adresse,Dienstlich: Adresse 2,Dienstlich: Ort,\
        Dienstlich: Bundesland,Dienstlich: PLZ,Dienstlich: Land,Arbeitstitel,Abteilung,Organisation,Webseite 1,Webseite 2,\
        Geburtsjahr,Geburtsmonat,Geburtstag,Benutzerdef. 1,Benutzerdef. 2,Benutzerdef. 3,Benutzerdef. 4,Notizen
        """,
        """
        Prénom,Nom de famille,Nom à afficher,Surnom,Adresse e-mail principale,Adresse e-mail secondaire,Nom de l’écran,\
        Tél. professionnel ,Tél. personnel,Fax,Pager,Portable,Adresse privée,Adresse privée 2,Ville,Pays/État,Code postal,\
        Pays/Région (domicile),Adresse professionnelle,Adresse professionnelle 2,Ville,Pays/État,Code postal,\
        Pays/Région (bureau),Profession,Service,Société,Site web 1,Site web 2,Année de naissance,Mois,Jour,Divers 1,\
        Divers 2,Divers 3,Divers 4,Notes
        """,
        """
        Nombre,Apellidos,Nombre mostrado,Apodo,Dirección de correo electrónico principal,\
        Dirección de correo electrónico secundaria,Nombre en pantalla,Teléfono (Trabajo),Teléfono particular,Fax,\
        Buscapersonas,Teléfono móvil,Dirección personal,Dirección personal 2,Ciudad donde vive,Provincia,Código postal,\
        País de residencia,Dirección de trabajo,Dirección de trabajo 2,Ciudad (Trabajo),Provincia (Trabajo),\
        Código postal (Trabajo),País (Trabajo),Puesto,Departamento,Organización,Página web 1,Página web 2,\
        Año de nacimiento,Mes de nacimiento,Día de nacimiento,Personalizado 1,Personalizado 2,Personalizado 3,\
        Personalizado 4,Notas
        """,
        """
        Nome,Cognome,Nome visualizzato,Soprannome,Email primaria,Email secondaria,Nome Instant Messenger,Telefono lavoro,\
        Telefono casa,Numero fax,Numero cercapersone,Numero cellulare,Indirizzo di casa,Indirizzo di casa 2,\
        Città di residenza,Provincia di residenza,CAP di residenza,Nazione di residenza,Indirizzo di lavoro,\
        Indirizzo di lavoro 2,Città di lavoro,Provincia di lavoro,CAP di lavoro,Nazione di lavoro,Qualifica,Reparto,\
        Organizzazione,Pagina web 1,Pagina web 2,Anno di nascita,Mese di nascita,Giorno di nascita,Personalizzato 1,\
        Personalizzato 2,Personalizzato 3,Personalizzato 4,Note
        """,
        """
        名,姓,表示名,ニックネーム,メールアドレス,別のメールアドレス,スクリーンネーム,勤務先の電話番号,自宅の電話番号,FAX 番号,\
        ポケットベル番号,携帯電話番号,番地 (自宅),番地 (自宅) 2,市区町村 (自宅),都道府県 (自宅),郵便番号 (自宅),国 (自宅),番地 (勤務先),\
        番地 (勤務先) 2,市区町村 (勤務先),都道府県 (勤務先),郵便番号 (勤務先),国 (勤務先),役職,部門,組織,ウェブページ 1,ウェブページ 2,\
        誕生年,誕生月,誕生日,追加情報 1,追加情報 2,追加情報 3,追加情報 4,メモ
        """,
    ]

    @Test("Thunderbird's columns are read whole, in each language", arguments: 0..<6)
    func thunderbird(language: Int) throws {
        let row = try row(
            Self.thunderbirdHeaders[language],
            """
            Ada,Lovelace,"Countess of Lovelace, Ada",Addie,ada@example.org,ada@home.example,adascreen,1,2,3,4,5,Street 1,\
            Flat 2,London,Kent,NW1,Britain,Works 3,Floor 4,Ockham,Surrey,KT1,England,Analyst,Notes,Engines,\
            https://work.example,https://home.example,1815,12,10,a,b,c,d,a note
            """)
        let ada = row.contact
        #expect(row.remarks.isEmpty)
        #expect([ada.givenName, ada.familyName, ada.nickname] == ["Ada", "Lovelace", "Addie"])
        #expect(ada.extraProperties == ["FN:Countess of Lovelace\\, Ada"])
        #expect(ada.emailAddresses.map(\.value) == ["ada@example.org", "ada@home.example"])
        #expect(ada.instantMessageAddresses.map { [$0.service, $0.username] } == [["AIM", "adascreen"]])
        #expect(
            ada.phoneNumbers.map { [$0.label, $0.value] } == [
                ["_$!<Work>!$_", "1"], ["_$!<Home>!$_", "2"], ["_$!<OtherFAX>!$_", "3"], ["_$!<Pager>!$_", "4"],
                ["_$!<Mobile>!$_", "5"],
            ])
        #expect(
            ada.postalAddresses.map { [$0.label, $0.street, $0.city, $0.state, $0.postalCode, $0.country] } == [
                ["_$!<Home>!$_", "Street 1\nFlat 2", "London", "Kent", "NW1", "Britain"],
                ["_$!<Work>!$_", "Works 3\nFloor 4", "Ockham", "Surrey", "KT1", "England"],
            ])
        #expect([ada.jobTitle, ada.departmentName, ada.organizationName] == ["Analyst", "Notes", "Engines"])
        #expect(
            ada.urlAddresses.map { [$0.label, $0.value] } == [
                ["_$!<Work>!$_", "https://work.example"], ["_$!<Home>!$_", "https://home.example"],
            ])
        #expect(ada.birthday == "1815-12-10")
        #expect(ada.note == "a note\nCustom 1: a\nCustom 2: b\nCustom 3: c\nCustom 4: d")
    }

    @Test("A display name is the name if there is no other, and a birthday may lack its year")
    func displayName() throws {
        let head = "Display Name,Organization,Primary Email,Birth Year,Birth Month,Birth Day"
        #expect(try row(head, "Ada Lovelace,,a@example.org,,2,29").contact.givenName == "Ada Lovelace")
        #expect(try row(head, "Ada Lovelace,,a@example.org,,2,29").contact.birthday == "--02-29")
        let engines = try row(head, "Engines Ltd,Engines Ltd,,1980,,").contact
        #expect(engines.contactType == .organization && engines.givenName.isEmpty && engines.note == "Birthday: 1980")
        #expect(try row(head, "a@example.org,,a@example.org,,,").contact.givenName.isEmpty)
    }

    // MARK: Outlook

    /// Headers that Outlook writes, shortened to one column of each kind.
    private static let outlookHeaders = [
        """
        "Title","First Name","Middle Name","Last Name","Suffix","Company","Department","Job Title","Business Street",\
        "Business Street 2","Business City","Business State","Business Postal Code","Business Country/Region",\
        "Home Street","Home City","Business Fax","Business Phone","Home Phone","Mobile Phone","Birthday","Categories",\
        "E-mail Address","E-mail 2 Address","Notes","Spouse","Web Page"
        """,
        """
        "Anrede","Vorname","Weitere Vornamen","Nachname","Suffix","Firma","Abteilung","Position","Straße geschäftlich",\
        "Straße geschäftlich 2","Ort geschäftlich","Region geschäftlich","Postleitzahl geschäftlich",\
        "Land/Region geschäftlich","Straße privat","Ort privat","Fax geschäftlich","Telefon geschäftlich","Telefon privat",\
        "Mobiltelefon","Geburtstag","Kategorien","E-Mail-Adresse","E-Mail 2: Adresse","Notizen","Partner","Webseite"
        """,
        """
        "Titre","Prénom","Deuxième prénom","Nom","Suffixe","Société","Service","Titre","Rue (bureau)","Rue (bureau) 2",\
        "Ville (bureau)","Dép/Région (bureau)","Code postal (bureau)","Pays/Région (bureau)","Rue (domicile)",\
        "Ville (domicile)","Télécopie (bureau)","Téléphone (bureau)","Téléphone (domicile)","Tél. mobile","Anniversaire",\
        "Catégories","Adresse de messagerie","Adresse de messagerie 2","Notes","Conjoint(e)","Page Web"
        """,
        """
        "Title","Nombre","Segundo nombre","Apellidos","Suffix","Organización","Department","Puesto","Calle del trabajo",\
        "Calle del trabajo 2","Ciudad de trabajo","Provincia o estado de trabajo","Código postal del trabajo",\
        "País o región del trabajo","Home Street","Home City","Business Fax","Teléfono del trabajo","Particular",\
        "Mobile Phone","Birthday","Categorías","E-mail Address","Dirección de correo electrónico 2","Notes","Spouse",\
        "Página web"
        """,
        """
        "Titolo","Nome","Secondo nome","Cognome","Titolo straniero","Società","Reparto","Posizione","Via (uff.)",\
        "Via (uff.) 2","Città (uff.)","Provincia (uff.)","CAP (uff.)","Paese (uff.)","Via (ab.)","Città (ab.)","Fax (uff.)",\
        "Ufficio","Abitazione","Cellulare","Compleanno","Categorie","Indirizzo posta elettronica",\
        "Indirizzo posta elettronica 2","Notes","Nome coniuge","Pagina Web"
        """,
        """
        "肩書き","名","ミドル ネーム","姓","敬称","会社名","部署","役職","番地 (会社)","住所 2 (会社)","市町村 (会社)","都道府県 (会社)",\
        "郵便番号 (会社)","国 (会社)/地域","番地 (自宅)","市町村 (自宅)","会社 FAX","会社電話","自宅電話","携帯電話","誕生日","分類",\
        "電子メール アドレス","電子メール 2 アドレス","メモ","配偶者","Web ページ"
        """,
    ]

    private static let outlookRow = """
        "Dr","Ada","King","Lovelace","II","Engines","Notes","Analyst","Works 3","Floor 4","Ockham","Surrey","KT1","England",\
        "Street 1","London","3","1","2","5","1815/12/10","VIP","ada@example.org","a@example.org","a note","William",\
        "https://work.example"
        """

    @Test("Outlook's columns are read whole, in each language", arguments: 0..<6)
    func outlook(language: Int) throws {
        let row = try row(Self.outlookHeaders[language], Self.outlookRow)
        let ada = row.contact
        #expect(row.remarks.isEmpty && row.groups == ["VIP"])
        #expect([ada.namePrefix, ada.givenName, ada.middleName, ada.familyName] == ["Dr", "Ada", "King", "Lovelace"])
        #expect(
            [ada.nameSuffix, ada.organizationName, ada.departmentName, ada.jobTitle] == [
                "II", "Engines", "Notes", "Analyst",
            ])
        #expect(
            ada.postalAddresses.map { [$0.label, $0.street, $0.city, $0.state, $0.postalCode, $0.country] } == [
                ["_$!<Work>!$_", "Works 3\nFloor 4", "Ockham", "Surrey", "KT1", "England"],
                ["_$!<Home>!$_", "Street 1", "London", "", "", ""],
            ])
        #expect(Set(ada.phoneNumbers.map(\.value)) == ["1", "2", "3", "5"])
        #expect(ada.phoneNumbers.first { $0.value == "3" }?.label == "_$!<WorkFAX>!$_")
        #expect(ada.emailAddresses.map(\.value) == ["ada@example.org", "a@example.org"])
        #expect(ada.birthday == "1815-12-10" && ada.note == "a note")
        #expect(ada.contactRelations.map(\.value) == ["William"] && ada.urlAddresses.count == 1)
    }

    @Test("Only English headers have dates with the month first")
    func dates() throws {
        for (place, day) in [(0, "1990-01-02"), (2, "1990-02-01"), (4, "1990-02-01")] {
            let row = try row(Self.outlookHeaders[place], Self.outlookRow.replacing("1815/12/10", with: "1/2/1990"))
            #expect(row.contact.birthday == day && row.remarks.isEmpty == (place > 0))
        }
    }

    @Test("Column names tell Windows-1252 and Shift JIS apart, and their rows are certain")
    func characterSets() throws {
        let german = (Self.outlookHeaders[1] + "\r\n" + Self.outlookRow.replacing("Ockham", with: "Köln"))
            .unicodeScalars
        let windows = Self.items(german.map { UInt8($0.value) })
        guard case .row(let row)? = windows.first else { throw CancellationError() }
        #expect(row.contact.postalAddresses.first?.city == "Köln" && row.remarks.isEmpty)
        // 名,姓,会社電話 and 一,ソ,1 in Shift JIS; the second byte of ソ is a backslash.
        let bytes: [UInt8] = [
            0x96, 0xBC, 0x2C, 0x90, 0xA9, 0x2C, 0x89, 0xEF, 0x8E, 0xD0, 0x93, 0x64, 0x98, 0x62, 0x0D, 0x0A, 0x88, 0xEA,
            0x2C, 0x83, 0x5C, 0x2C, 0x31, 0x0D, 0x0A,
        ]
        guard case .row(let japanese)? = Self.items(bytes).first else { throw CancellationError() }
        #expect(japanese.contact.givenName == "一" && japanese.contact.familyName == "ソ")
        #expect(japanese.contact.phoneNumbers.map(\.value) == ["1"] && japanese.remarks.isEmpty)
    }

    // MARK: What has no field

    @Test("Each value without a field is named: unknown columns, second columns and columns without a name")
    func leftOut() throws {
        let row = try row("First Name,Last Name,E-mail Address,Shoe Size,Last Name,,Empty", "Ada,L,a@x.example,37,M,y,")
        #expect(
            row.remarks.map(\.reason) == [
                .leftOut("Shoe Size"), .leftOut("Last Name"), .leftOut("column 6 (without a name)"),
            ])
        let google = try self.row("First Name,Labels,Phone 1 - Value,Phone 1 - Ring Tone", "Ada,,1,loud")
        #expect(google.remarks.map(\.reason) == [.leftOut("Phone 1 - Ring Tone")])
    }

    @Test("Google's File As, language and further organization texts are kept in the note")
    func fileAs() throws {
        let head =
            "Name,Given Name,Family Name,File As,Language,Group Membership,Organization 1 - Name,Organization 1 - Symbol"
        let ada = try row(head, "Ada Lovelace,Ada,Lovelace,Countess,English,,Engines,ENG").contact
        #expect(ada.note == "Organization: ENG\nFile As: Countess\nLanguage: English")
        #expect(try row(head, ",,,Countess,,,,").contact.givenName == "Countess")
        #expect(try row(head, ",,,Countess,,,,").contact.note.isEmpty)
        let engines = try row(head, ",,,Engines,,,Engines,").contact
        #expect(engines.contactType == .organization && engines.note.isEmpty)
    }

    @Test("With --day-first, Google's dates have the day first, too")
    func googleDates() throws {
        let items = Self.items(Array("First Name,Labels,Birthday\nAda,,1/2/1990\n".utf8), dates: .dayFirst)
        guard case .row(let row)? = items.first else { throw CancellationError() }
        #expect(row.contact.birthday == "1990-02-01" && row.remarks.isEmpty)
    }
}
