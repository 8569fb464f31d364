extension OutlookTable {
    /// The columns of Outlook in English, German, French, Spanish, Italian and Japanese. The classic program writes
    /// all but the last lines. The new program and the web version write names such as `Nickname` and `Personal
    /// Web Page`.
    static let names = ColumnNames(
        """
        Title|Anrede|Titre||Titolo|肩書き
        First Name|Vorname|Prénom|Nombre|Nome|名
        Middle Name|Weitere Vornamen|Deuxième prénom|Segundo nombre|Secondo nome|ミドル ネーム
        Last Name|Nachname|Nom|Apellidos|Cognome|姓
        Suffix||Suffixe|Sufijo|Titolo straniero|敬称
        Company|Firma|Société|Organización;Compañía|Società|会社名
        Department|Abteilung|Service|Departamento|Reparto|部署
        Job Title|Position|Titre|Puesto|Posizione|役職
        Business Street|Straße geschäftlich;Strasse geschäftlich|Rue (bureau)|Calle del trabajo|Via (uff.)|番地 (会社)
        Business Street 2|Straße geschäftlich 2;Strasse geschäftlich 2|Rue (bureau) 2|Calle del trabajo 2|Via (uff.) 2|住所 2 (会社)
        Business Street 3|Straße geschäftlich 3;Strasse geschäftlich 3|Rue (bureau) 3|Calle del trabajo 3|Via (uff.) 3|住所 3 (会社)
        Business City|Ort geschäftlich|Ville (bureau)|Ciudad de trabajo|Città (uff.)|市町村 (会社)
        Business State|Region geschäftlich|Dép/Région (bureau)|Provincia o estado de trabajo|Provincia (uff.)|都道府県 (会社)
        Business Postal Code|Postleitzahl geschäftlich|Code postal (bureau)|Código postal del trabajo|CAP (uff.)|郵便番号 (会社)
        Business Country/Region|Land/Region geschäftlich|Pays/Région (bureau)|País o región del trabajo|Paese (uff.)|国 (会社)/地域
        Home Street|Straße privat;Strasse privat|Rue (domicile)|Calle del domicilio|Via (ab.)|番地 (自宅)
        Home Street 2|Straße privat 2;Strasse privat 2|Rue (domicile) 2|Calle del domicilio 2|Via (ab.) 2|住所 2 (自宅)
        Home Street 3|Straße privat 3;Strasse privat 3|Rue (domicile) 3|Calle del domicilio 3|Via (ab.) 3|住所 3 (自宅)
        Home City|Ort privat|Ville (domicile)|Ciudad del domicilio|Città (ab.)|市町村 (自宅)
        Home State|Bundesland/Kanton privat|Dép/Région (domicile)|Provincia o estado del domicilio|Provincia (ab.)|都道府県 (自宅)
        Home Postal Code|Postleitzahl privat|Code postal (domicile)|Código postal del domicilio|CAP (ab.)|郵便番号 (自宅)
        Home Country/Region|Land/Region privat|Pays/Région (domicile)|País o región del domicilio|Paese (ab.)|国 (自宅)/地域
        Other Street|Weitere Straße|Rue (autre)|Otra calle|Altra via|番地 (その他)
        Other Street 2|Weitere Straße 2|Rue (autre) 2|Otra calle 2|Altra via 2|住所 2 (その他)
        Other Street 3|Weitere Straße 3|Rue (autre) 3|Otra calle 3|Altra via 3|住所 3 (その他)
        Other City|Weiterer Ort|Ville (autre)|Otra ciudad|Altra città|市町村 (その他)
        Other State|Weiteres/r Bundesland/Kanton|Dép/Région (autre)|Otra provincia o estado|Altra provincia|都道府県 (その他)
        Other Postal Code|Weitere Postleitzahl|Code postal (autre)|Otro código postal|Altro CAP|郵便番号 (その他)
        Other Country/Region|Weiteres/e Land/Region;Weiteres Land/Region|Pays/Région (autre)|Otro país o región|Altro paese|国 (その他)/地域
        Assistant's Phone|Telefon Assistent|Téléphone de l'assistant(e)|Teléfono del ayudante|Telefono assistente|秘書の電話
        Business Fax|Fax geschäftlich|Télécopie (bureau)|Fax del trabajo|Fax (uff.)|会社 FAX
        Business Phone|Telefon geschäftlich|Téléphone (bureau)|Teléfono del trabajo|Ufficio|会社電話
        Business Phone 2|Telefon geschäftlich 2|Téléphone 2 (bureau)|Teléfono del trabajo 2|Ufficio 2|会社電話 2
        Callback|Rückmeldung|Rappel|Devolución de llamada|Richiamata automatica|コールバック
        Car Phone|Autotelefon|Téléphone (voiture)|Teléfono del automóvil|Telefono auto|自動車電話
        Company Main Phone|Telefon Firma|Téléphone société|Número de centralita de la organización|Telefono principale società|会社代表電話
        Home Fax|Fax privat|Télécopie (domicile)|Fax particular|Fax (ab.)|自宅 FAX
        Home Phone|Telefon privat;Telefon (privat)|Téléphone (domicile)|Particular|Abitazione|自宅電話
        Home Phone 2|Telefon privat 2;Telefon (privat 2)|Téléphone 2 (domicile)|Número del domicilio 2|Abitazione 2|自宅電話 2
        ISDN||RNIS|||
        Mobile Phone|Mobiltelefon|Tél. mobile|Teléfono móvil|Cellulare|携帯電話
        Other Fax|Weiteres Fax|Télécopie (autre)|Otro fax|Altro fax|その他の FAX
        Other Phone|Weiteres Telefon|Téléphone (autre)|Otro teléfono|Altro telefono|その他の電話
        Pager||Récepteur de radiomessagerie|Localizador|Cercapersone|ポケットベル
        Primary Phone|Haupttelefon|Téléphone principal|Teléfono principal|Telefono principale|通常の電話
        Radio Phone|Mobiltelefon 2|Radio téléphone|Radioteléfono|Radiotelefono|無線電話
        TTY/TDD Phone|Telefon für Hörbehinderte|Téléphone TDD/TTY|Número de teletipo|Telefono TTY/TDD|TTY/TDD
        Telex||Télex|Télex||テレックス
        Account|Konto|Compte|Cuenta||アカウント
        Anniversary|Jahrestag|Anniversaire de mariage ou fête|Aniversario|Anniversario|記念日
        Assistant's Name|Name Assistent|Nom de l'assistant(e)|Nombre del ayudante|Nome assistente|秘書の氏名
        Billing Information|Abrechnungsinformation|Informations facturation|Facturación|Dati fatturazione|支払い条件
        Birthday|Geburtstag|Anniversaire|Cumpleaños|Compleanno|誕生日
        Business Address PO Box|Postfach geschäftlich|B.P. professionnelle|Apartado postal de la dirección del trabajo|Indirizzo (uff.) - Casella postale|会社住所私書箱
        Categories|Kategorien|Catégories|Categorías|Categorie|分類
        Children|Kinder|Enfants|Hijos|Figli|子供
        Directory Server|Verzeichnisserver|Serveur d'annuaire|Servidor de directorios|Server di directory|ディレクトリ サーバー
        E-mail Address|E-Mail-Adresse|Adresse de messagerie;Adresse de courrier|Dirección de correo electrónico|Indirizzo posta elettronica|電子メール アドレス
        E-mail Type|E-Mail-Typ|Type de messagerie|Tipo de correo electrónico|Tipo posta elettronica|電子メールの種類
        E-mail Display Name|E-Mail: Angezeigter Name|Nom complet de l'adresse de messagerie|Nombre de pantalla de correo electrónico|Nome visualizzato posta elettronica|電子メール表示名
        E-mail 2 Address|E-Mail 2: Adresse|Adresse de messagerie 2;Adresse de courrier 2|Dirección de correo electrónico 2;Dirección del correo electrónico 2|Indirizzo posta elettronica 2|電子メール 2 アドレス
        E-mail 2 Type|E-Mail 2: Typ|Type de messagerie 2|Tipo de correo electrónico 2|Tipo posta elettronica 2|電子メール 2 の種類
        E-mail 2 Display Name|E-Mail 2: Angezeigter Name|Nom complet de l'adresse de messagerie 2|Nombre de pantalla de correo electrónico 2|Nome visualizzato posta elettronica 2|電子メール 2 表示名
        E-mail 3 Address|E-Mail 3: Adresse|Adresse de messagerie 3;Adresse de courrier 3|Dirección de correo electrónico 3;Dirección del correo electrónico 3|Indirizzo posta elettronica 3|電子メール 3 アドレス
        E-mail 3 Type|E-Mail 3: Typ|Type de messagerie 3|Tipo de correo electrónico 3|Tipo posta elettronica 3|電子メール 3 の種類
        E-mail 3 Display Name|E-Mail 3: Angezeigter Name|Nom complet de l'adresse de messagerie 3|Nombre de pantalla de correo electrónico 3|Nome visualizzato posta elettronica 3|電子メール 3 表示名
        Gender|Geschlecht|Sexe|Género;Sexo|Sesso|性別
        Government ID Number|Regierungsnr.|Code gouvernement|Número de identificación del gobierno|Cod. Fisc./P. IVA|ID 番号
        Hobby||Passe-temps|Aficiones||趣味
        Home Address PO Box|Postfach privat|Boîte postale du domicile|Apartado postal de la dirección personal|Indirizzo (ab.) - Casella postale|自宅住所私書箱
        Initials|Initialen|Initiales|Iniciales|Iniziali|イニシャル
        Internet Free Busy|Internet-Frei/Gebucht|Disponibilité Internet||Disponibilità Internet|インターネット空き時間情報
        Keywords|Stichwörter|Mots clés|Palabras clave|Parole chiave|キーワード
        Language|Sprache|Langue|Idioma|Lingua|言語
        Location|Ort|Emplacement|Ubicación|Luogo|場所
        Manager's Name|Name des/der Vorgesetzten|Responsable|Nombre del director|Nome manager|マネージャー
        Mileage|Reisekilometer|Kilométrage|Kilometraje|Indennità trasferta|経費情報
        Notes|Notizen||Notas|Note|メモ
        Office Location|Büro|Bureau|Ubicación de la oficina|Ubicazione ufficio|事業所
        Organizational ID Number|Organisationsnr.|Code organisation|Número de identificación de la organización|Numero ID organizzazione|組織 ID 番号
        Other Address PO Box|Weiteres Postfach|Autre boîte postale|Otro apartado postal|Altro indirizzo - Casella postale|その他住所私書箱
        Priority|Priorität|Priorité|Prioridad|Priorità|優先度
        Private|Privat|Privé|Privado|Privato|プライベート
        Profession|Beruf||Profesión|Professione|職業
        Referred By|Empfohlen von|Recommandé par|Recomendado por|Indicato da|紹介者
        Sensitivity|Vertraulichkeit|Critère de diffusion|Confidencialidad|Riservatezza|秘密度
        Spouse|Partner|Conjoint(e)|Cónyuge|Nome coniuge|配偶者
        User 1|Benutzer 1|Utilisateur 1|Usuario 1|Utente 1|ユーザー 1
        User 2|Benutzer 2|Utilisateur 2|Usuario 2|Utente 2|ユーザー 2
        User 3|Benutzer 3|Utilisateur 3|Usuario 3|Utente 3|ユーザー 3
        User 4|Benutzer 4|Utilisateur 4|Usuario 4|Utente 4|ユーザー 4
        Web Page|Webseite|Page Web|Página web|Pagina Web|Web ページ
        Given Yomi|Vorname Yomi|Prénom Yomi|Yomi especificada||名前フリガナ
        Surname Yomi|Nachname Yomi|Nom Yomi|Apellido Yomi||姓フリガナ
        Company Yomi|Firma Yomi|Société Yomi|Compañía Yomi||会社名フリガナ
        Nickname|Spitzname|Surnom|Alias;Apodo|Soprannome|ニックネーム
        Mobile Phone 2
        Schools
        IMAddress
        Personal Web Page
        Business Home Page
        Business Country
        Home Country
        Other Country
        """)
}
