import Testing

@Suite("Importing LDIF")
struct ImportingTests {
    private func fixture() throws -> DaemonFixture {
        let fixture = try DaemonFixture()
        try fixture.allowContactbook(by: try fixture.person())
        return fixture
    }

    @Test("LDIF gives contacts and groups, and refuses changes")
    func ldif() throws {
        let fixture = try fixture()
        let path = try fixture.file(
            "book.ldif",
            """
            dn: cn=Ada Lovelace,mail=ada@example.org
            objectclass: mozillaAbPersonAlpha
            givenName: Ada
            sn: Lovelace
            cn: Ada Lovelace
            mail: ada@example.org

            dn: cn=Friends
            objectclass: groupOfNames
            cn: Friends
            member: cn=Ada Lovelace,mail=ada@example.org

            dn: cn=Eve
            changetype: delete

            """)
        let imported = try fixture.contactbook("import", path)
        #expect(imported.output == "added 1 contact of 1 file\n" && imported.end == .exited(1))
        #expect(imported.errors.contains("book.ldif:13: a change of a directory (changetype)"), "\(imported.errors)")
        #expect(try fixture.contactbook("groups", "show", "Friends").output.contains("Ada Lovelace"))
    }
}
