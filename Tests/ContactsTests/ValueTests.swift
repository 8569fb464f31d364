import Contacts
import Foundation
import Testing

@Suite("Values")
struct ValueTests {
    @Test("A new contact has every key, and every value is empty")
    func empty() {
        let contact = CNMutableContact()
        #expect(contact.isKeyAvailable(CNContactNoteKey))
        #expect(contact.areKeysAvailable([CNContactGivenNameKey, CNContactBirthdayKey] as [CNKeyDescriptor]))
        #expect(contact.givenName.isEmpty && contact.phoneNumbers.isEmpty && contact.birthday == nil)
        #expect(contact.contactType == .person && !contact.imageDataAvailable && contact.imageData == nil)
        #expect(!contact.isKeyAvailable("shoeSize"))
    }

    @Test("A copy does not change with its original")
    func copies() throws {
        let contact = CNMutableContact()
        contact.givenName = "Ada"
        let copy = try #require(contact.copy() as? CNContact)
        contact.givenName = "Augusta"
        #expect(copy.givenName == "Ada" && !(copy is CNMutableContact))
        let other = try #require(copy.mutableCopy() as? CNMutableContact)
        other.givenName = "Byron"
        #expect(copy.givenName == "Ada" && copy.identifier == other.identifier)
    }

    @Test("Contacts with the same values are equal")
    func equality() throws {
        let contact = CNMutableContact()
        contact.givenName = "Ada"
        contact.emailAddresses = [CNLabeledValue(label: CNLabelHome, value: "ada@example.org" as NSString)]
        let copy = try #require(contact.copy() as? CNContact)
        #expect(copy == contact && Set([copy, contact]).count == 1)
        contact.emailAddresses = contact.emailAddresses.map { $0.settingValue("lovelace@example.org" as NSString) }
        #expect(copy != contact)
        #expect(contact.emailAddresses[0].identifier == copy.emailAddresses[0].identifier)
    }

    @Test("A labeled value does not change with the object that it was made from or with one that it returned")
    func heldValues() {
        let address = CNMutablePostalAddress()
        address.city = "London"
        let labeled = CNLabeledValue<CNPostalAddress>(label: CNLabelHome, value: address)
        address.city = "Paris"
        #expect(labeled.value.city == "London")
        let date = NSDateComponents()
        date.day = 1
        let anniversary = CNLabeledValue(label: CNLabelDateAnniversary, value: date)
        date.day = 2
        anniversary.value.day = 3
        #expect(anniversary.value.day == 1)
    }

    @Test("Contacts, numbers, requests and groups survive archiving")
    func archives() throws {
        let contact = CNMutableContact()
        contact.givenName = "Ada"
        contact.birthday = DateComponents(calendar: Calendar(identifier: .gregorian), month: 12, day: 10)
        contact.phoneNumbers = [CNLabeledValue(label: "of the machine", value: CNPhoneNumber(stringValue: "112"))]
        contact.imageData = Data([1, 2, 3])
        let data = try NSKeyedArchiver.archivedData(withRootObject: contact, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CNMutableContact.self, from: data))
        #expect(read.givenName == "Ada" && read.birthday?.day == 10 && read.birthday?.year == nil)
        #expect(read.identifier == contact.identifier && read.imageData == Data([1, 2, 3]))
        #expect(read.phoneNumbers.map(\.value.stringValue) == ["112"])
        let number = try NSKeyedArchiver.archivedData(
            withRootObject: contact.phoneNumbers[0].value, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CNPhoneNumber.self, from: number)?.stringValue == "112")
        let request = CNContactFetchRequest(keysToFetch: [CNContactGivenNameKey as CNKeyDescriptor])
        request.predicate = CNContact.predicateForContacts(withIdentifiers: ["1", "2"])
        request.sortOrder = .familyName
        let written = try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: true)
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClass: CNContactFetchRequest.self, from: written)
        #expect(again?.predicate == request.predicate && again?.sortOrder == .familyName && again?.unifyResults == true)
        let group = CNMutableGroup()
        group.name = "Pioneers"
        let archive = try NSKeyedArchiver.archivedData(withRootObject: group, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CNMutableGroup.self, from: archive)?.name == "Pioneers")
    }

    @Test("Errors are caught by their code, as Swift's and as Foundation's errors")
    func errors() {
        func fail() throws { throw CNError(.authorizationDenied, userInfo: [CNErrorUserInfoKeyPathsKey: ["note"]]) }
        do { try fail() } catch CNError.recordDoesNotExist {
            Issue.record("caught as another code")
        } catch CNError.authorizationDenied {
        } catch { Issue.record(error) }
        do { try fail() } catch {
            #expect((error as? CNError)?.code == .authorizationDenied && (error as? CNError)?.keyPaths == ["note"])
            let error = error as NSError
            #expect(error.domain == CNErrorDomain && error.code == 100)
            #expect(error.userInfo[CNErrorUserInfoKeyPathsKey] as? [String] == ["note"])
            #expect(!error.localizedDescription.isEmpty)
        }
    }

    @Test("An NSError is caught as such, and becomes the same error again")
    func bridgedErrors() {
        let contact = CNMutableContact()
        contact.givenName = "Ada"
        let thrown = CNError(
            .authorizationDenied,
            userInfo: [
                NSLocalizedFailureReasonErrorKey: "no agent", NSLocalizedRecoverySuggestionErrorKey: "start one",
                CNErrorUserInfoBrokerErrorKey: "NoAgent", CNErrorUserInfoAffectedRecordsKey: [contact],
                CNErrorUserInfoAffectedRecordIdentifiersKey: [contact.identifier],
            ])
        func fail() throws { throw thrown }
        do { try fail() } catch let error as NSError {
            #expect(error.domain == CNErrorDomain && error.code == 100)
            #expect(error.localizedDescription == thrown.localizedDescription)
            #expect(error as? CNError == thrown && error as Error as? CNError == thrown)
            #expect((error as? CNError)?.brokerError == "NoAgent")
            #expect(((error as? CNError)?.affectedRecords?.first as? CNContact)?.givenName == "Ada")
        }
        let other: any Error = NSError(domain: NSCocoaErrorDomain, code: 100)
        #expect(other as? CNError == nil && !(other is CNError))
        let unknown: any Error = NSError(domain: CNErrorDomain, code: 9_999)
        #expect(unknown as? CNError == nil)
        do { throw other } catch CNError.authorizationDenied {
            Issue.record("caught as an error of this library")
        } catch {}
    }

    @Test("A date keeps its calendar, and may lack a year")
    func nonGregorian() throws {
        let contact = CNMutableContact()
        contact.nonGregorianBirthday = DateComponents(calendar: Calendar(identifier: .chinese), month: 8, day: 15)
        let copy = try #require(contact.copy() as? CNContact)
        #expect(copy.nonGregorianBirthday?.month == 8 && copy.nonGregorianBirthday?.calendar?.identifier == .chinese)
    }

    @Test("A vCard that is read and written again keeps its values, and malformed data is an error")
    func vCards() throws {
        let card =
            "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lovelace;Ada;;;\r\nFN:Ada Lovelace\r\nTEL;TYPE=CELL:112\r\nX-OURS:kept\r\nEND:VCARD\r\n"
        let contacts = try CNContactVCardSerialization.contacts(with: Data(card.utf8))
        #expect(contacts.map(\.givenName) == ["Ada"] && contacts[0].phoneNumbers[0].label == CNLabelPhoneNumberMobile)
        for version in [CNContactVCardSerialization.Version.v3, .v4] {
            let data = try CNContactVCardSerialization.data(with: contacts, version: version)
            #expect(String(decoding: data, as: UTF8.self).contains("X-OURS:kept"))
            #expect(try CNContactVCardSerialization.contacts(with: data)[0].phoneNumbers[0].value.stringValue == "112")
        }
        #expect { try CNContactVCardSerialization.contacts(with: Data("BEGIN:VCARD\r\nFN".utf8)) } throws: {
            ($0 as? CNError)?.code == .vCardMalformed
        }
    }

    @Test("Contacts are sorted by the rules of the person's language, with organizations among people")
    func sorting() {
        func made(_ given: String, _ family: String, _ organization: String = "") -> CNContact {
            let contact = CNMutableContact()
            (contact.givenName, contact.familyName, contact.organizationName) = (given, family, organization)
            if given.isEmpty { contact.contactType = .organization }
            return contact
        }
        let people = [made("Zoe", "Adams"), made("Ada", "Zorn"), made("", "", "Mint"), made("Åsa", "Berg")]
        func sorted(_ order: CNContactSortOrder) -> [String] {
            let comparator = CNContact.comparator(forNameSortOrder: order)
            return people.sorted { comparator($0, $1) == .orderedAscending }.map { $0.givenName + $0.organizationName }
        }
        #expect(sorted(.familyName) == ["Zoe", "Åsa", "Mint", "Ada"])
        #expect(sorted(.givenName).first == "Ada" || sorted(.givenName).first == "Åsa")
    }
}
