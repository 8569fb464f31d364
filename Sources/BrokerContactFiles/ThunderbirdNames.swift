extension ThunderbirdTable {
    /// The columns of Thunderbird in English, German, French, Spanish, Italian and Japanese, in Thunderbird's order.
    static let names = ColumnNames(
        """
        First Name|Vorname|Prénom|Nombre|Nome|名
        Last Name|Nachname|Nom de famille|Apellidos|Cognome|姓
        Display Name|Anzeigename|Nom à afficher|Nombre mostrado|Nome visualizzato|表示名
        Nickname|Spitzname|Surnom|Apodo|Soprannome|ニックネーム
        Primary Email|Primäre E-Mail-Adresse|Adresse e-mail principale;Adresse électronique principale|Dirección de correo electrónico principal;Correo electrónico principal|Email primaria|メールアドレス
        Secondary Email|Sekundäre E-Mail-Adresse|Adresse e-mail secondaire;Adresse électronique secondaire|Dirección de correo electrónico secundaria;Correo electrónico secundario|Email secondaria|別のメールアドレス
        Screen Name|Messenger-Name;Anzeigename|Nom de l'écran|Nombre en pantalla|Nome Instant Messenger|スクリーンネーム
        Work Phone|Tel. dienstlich|Tél. professionnel|Teléfono (Trabajo)|Telefono lavoro|勤務先の電話番号
        Home Phone|Tel. privat|Tél. personnel|Teléfono particular|Telefono casa|自宅の電話番号
        Fax Number|Fax-Nummer|Fax|Fax|Numero fax|FAX 番号
        Pager Number|Pager-Nummer|Pager|Buscapersonas|Numero cercapersone|ポケットベル番号
        Mobile Number|Mobil-Tel.-Nr.|Portable|Teléfono móvil|Numero cellulare|携帯電話番号
        Home Address|Privat: Adresse|Adresse privée|Dirección personal|Indirizzo di casa|番地 (自宅)
        Home Address 2|Privat: Adresse 2|Adresse privée 2|Dirección personal 2|Indirizzo di casa 2|番地 (自宅) 2
        Home City|Privat: Ort|Ville|Ciudad donde vive|Città di residenza|市区町村 (自宅)
        Home State;Home County|Privat: Bundesland|Pays/État|Provincia|Provincia di residenza|都道府県 (自宅)
        Home ZipCode;Home Post Code;Home Postal Code|Privat: PLZ|Code postal|Código postal|CAP di residenza|郵便番号 (自宅)
        Home Country|Privat: Land|Pays/Région (domicile)|País de residencia|Nazione di residenza|国 (自宅)
        Work Address|Dienstlich: Adresse|Adresse professionnelle|Dirección de trabajo|Indirizzo di lavoro|番地 (勤務先)
        Work Address 2|Dienstlich: Adresse 2|Adresse professionnelle 2|Dirección de trabajo 2|Indirizzo di lavoro 2|番地 (勤務先) 2
        Work City|Dienstlich: Ort|Ville|Ciudad (Trabajo)|Città di lavoro|市区町村 (勤務先)
        Work State;Work County|Dienstlich: Bundesland|Pays/État|Provincia (Trabajo)|Provincia di lavoro|都道府県 (勤務先)
        Work ZipCode;Work Post Code;Work Postal Code|Dienstlich: PLZ|Code postal|Código postal (Trabajo)|CAP di lavoro|郵便番号 (勤務先)
        Work Country|Dienstlich: Land|Pays/Région (bureau)|País (Trabajo)|Nazione di lavoro|国 (勤務先)
        Job Title|Arbeitstitel|Profession|Puesto|Qualifica|役職
        Department|Abteilung|Service|Departamento|Reparto|部門
        Organization;Organisation|Organisation|Société|Organización|Organizzazione|組織
        Web Page 1|Webseite 1|Site web 1|Página web 1|Pagina web 1|ウェブページ 1
        Web Page 2|Webseite 2|Site web 2|Página web 2|Pagina web 2|ウェブページ 2
        Birth Year|Geburtsjahr|Année de naissance|Año de nacimiento|Anno di nascita|誕生年
        Birth Month|Geburtsmonat|Mois|Mes de nacimiento|Mese di nascita|誕生月
        Birth Day|Geburtstag|Jour|Día de nacimiento|Giorno di nascita|誕生日
        Custom 1|Benutzerdef. 1|Divers 1|Personalizado 1|Personalizzato 1|追加情報 1
        Custom 2|Benutzerdef. 2|Divers 2|Personalizado 2|Personalizzato 2|追加情報 2
        Custom 3|Benutzerdef. 3|Divers 3|Personalizado 3|Personalizzato 3|追加情報 3
        Custom 4|Benutzerdef. 4|Divers 4|Personalizado 4|Personalizzato 4|追加情報 4
        Notes|Notizen||Notas|Note|メモ
        """)
}
