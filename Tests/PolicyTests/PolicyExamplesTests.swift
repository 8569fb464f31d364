import BrokerAccessControl
import BrokerModel
import Glibc
import Testing

@testable import BrokerPolicy

@Suite("The shipped policy examples")
struct PolicyExamplesTests {
    private static let folder = {
        let file = #filePath
        return "/" + file.split(separator: "/").dropLast(3).joined(separator: "/") + "/policy/examples"
    }()

    /// The example, on a machine where user 1001 is in its group.
    private static func policy(_ example: String) throws -> Policy {
        let file = try #require(fopen("\(folder)/\(example).toml", "re"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let reader = PolicyReader.read(
            [PolicyText(file: example, text: text)], groups: UserGroups { _ in .members([1_001]) })
        #expect(reader.problems == [])
        return reader.policy
    }

    private static let day: Int64 = 86_400
    private static let now: Int64 = 1_000 * day

    /// An app, and the access that it has under an example.
    struct Row: Sendable, CustomTestStringConvertible {
        let example: String
        let principal: Principal
        let grant: Access?
        let status: AuthorizationStatus
        var mayPrompt = true
        var keys: ContactKeySet?
        var endsAfter: Int64?
        var unusedAfter: Int64?
        var testDescription: String {
            "\(example): \(principal.strength) \(principal.app) of \(principal.uid), \(status)"
        }

        init(
            _ example: String, _ strength: IdentityStrength, _ app: String, of uid: UInt32 = 1_000, _ grant: Access?,
            _ status: AuthorizationStatus, mayPrompt: Bool = true, keys: ContactKeySet? = nil, endsAfter: Int64? = nil,
            unusedAfter: Int64? = nil
        ) {
            self.example = example
            principal = Principal(uid: uid, strength: strength, app: app)
            self.grant = grant
            self.status = status
            self.mayPrompt = mayPrompt
            self.keys = keys
            self.endsAfter = endsAfter
            self.unusedAfter = unusedAfter
        }
    }

    private static let one = Access.limited(to: [RecordNumber(1)])
    private static let few = ContactKeySet([.contactType, .givenName, .familyName, .organizationName, .phoneNumbers])
    private static let badge = ContactKeySet([
        .contactType, .givenName, .familyName, .organizationName, .thumbnailImageData, .imageData,
    ])

    @Test(
        "An example has the effect that its comments promise",
        arguments: [
            Row("company-laptop", .sandboxed, "com.example.Mail", of: 1_001, nil, .full, unusedAfter: 90),
            Row("company-laptop", .sandboxed, "com.example.Mail", nil, .notDetermined, unusedAfter: 90),
            // A program that only takes the name gets nothing by it.
            Row("company-laptop", .unverified, "com.example.Mail", of: 1_001, nil, .notDetermined, unusedAfter: 90),
            Row("company-laptop", .installed, "com.example.Mail", of: 1_001, nil, .notDetermined, unusedAfter: 90),
            Row("company-laptop", .sandboxed, "org.other.App", .full, .full, keys: Grant.ordinaryKeys, unusedAfter: 90),
            Row(
                "company-laptop", .unverified, "/usr/bin/x sha256:0", .full, .limited, keys: few, endsAfter: 7,
                unusedAfter: 90),
            Row(
                "company-laptop", .unverified, "/usr/bin/x sha256:0", one, .limited, keys: few, endsAfter: 7,
                unusedAfter: 90),
            Row("company-laptop", .claimed, "x", .denied, .denied, unusedAfter: 90),
            Row("family-computer", .sandboxed, "org.game", .full, .full, keys: Grant.ordinaryKeys, unusedAfter: 180),
            Row("family-computer", .unverified, "/usr/bin/x sha256:0", one, .limited, unusedAfter: 180),
            Row("family-computer", .sandboxed, "org.game", of: 1_001, .full, .limited, endsAfter: 30, unusedAfter: 180),
            Row("family-computer", .sandboxed, "org.game", of: 1_001, nil, .notDetermined, unusedAfter: 180),
            Row(
                "family-computer", .sandboxed, "com.example.Messenger", of: 1_001, nil, .limited, mayPrompt: false,
                unusedAfter: 180),
            Row("family-computer", .sandboxed, "com.example.Messenger", nil, .notDetermined, unusedAfter: 180),
            Row(
                "family-computer", .unverified, "/usr/bin/x sha256:0", of: 1_001, one, .restricted, endsAfter: 30,
                unusedAfter: 180),
            Row("kiosk", .sandboxed, "com.example.CheckIn", nil, .full, mayPrompt: false, keys: badge),
            Row("kiosk", .sandboxed, "com.example.Other", nil, .notDetermined, mayPrompt: false),
            Row("kiosk", .installed, "com.example.CheckIn", .full, .restricted, mayPrompt: false),
            Row("kiosk", .unverified, "/usr/bin/x sha256:0", one, .restricted, mayPrompt: false),
            Row("kiosk", .service, "x.service", nil, .restricted, mayPrompt: false),
        ])
    func effect(row: Row) throws {
        let ruling = try Self.policy(row.example).ruling(on: row.principal)
        let grant = row.grant.map { Grant(access: $0, revision: 1, decidedBy: .person, decidedAt: Self.now) }
        let access = ruling.effectiveAccess(of: grant, at: Self.now, revision: 2, loadedAt: Self.now)
        #expect(access.status == row.status)
        #expect(ruling.mayPrompt == row.mayPrompt)
        #expect(ruling.maximumUnused == row.unusedAfter.map { $0 * Self.day })
        if let grant { #expect(ruling.end(of: grant) == row.endsAfter.map { Self.now + $0 * Self.day }) }
        guard let keys = row.keys, case .granted(let effective) = access else { return #expect(row.keys == nil) }
        #expect(effective.keys == keys)
    }

    @Test("The company's programs see no notes, and an answer about them takes the password")
    func company() throws {
        let policy = try Self.policy("company-laptop")
        let mail = policy.ruling(on: Principal(uid: 1_001, strength: .sandboxed, app: "com.example.Mail"))
        #expect(mail.maximumKeys.isDisjoint(with: .named))
        #expect(policy.confirmation == .password)
        #expect(policy.withoutAuthentication == .refuse)
        #expect(policy.isAuditDurable)
    }

    @Test("Every example is tested")
    func all() throws {
        let folder = try #require(opendir(Self.folder))
        defer { closedir(folder) }
        var names: Set<String> = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.insert(name) }
        }
        #expect(names == ["company-laptop.toml", "family-computer.toml", "kiosk.toml"])
    }
}
