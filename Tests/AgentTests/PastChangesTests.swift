import BrokerFormatting
import Testing

@testable import contact_agent

@Suite("Putting back what an app changed, in its review")
struct PastChangesTests {
    private func driver(_ language: String = "en", on size: ScreenSize = Driver.size) throws -> Driver {
        var driver = try Driver(AgentScreens.managed, own: true, on: size, language)
        driver.begin()
        driver.press("w")
        return driver
    }

    @Test(
        "Each sequence of keys puts back what its screen says",
        arguments: [
            ("u⏎uy", PutBackRequest(save: 9)), ("u↓⏎uy", PutBackRequest(save: 4)),
            ("u⏎ey", PutBackRequest(save: 9, later: true)), ("u⏎ufy", PutBackRequest(save: 9, force: true)),
            ("u⏎↓⏎y", PutBackRequest(save: 9, contact: "p1")),
            ("u⏎⏎fy", PutBackRequest(save: 9, contact: "p3", force: true)),
            ("u⏎ub⏎fy", PutBackRequest(save: 9, contact: "p3", force: true)),
        ])
    func puts(keys: String, request: PutBackRequest) throws {
        var driver = try driver()
        #expect(driver.press(keys) == .putBack(request))
        #expect(driver.putBacks.suffix(2) == [.foresee(request), .putBack(request)])
        #expect(driver.screen.stage == "saves")
    }

    @Test(
        "No other key puts anything back",
        arguments: ["uy", "u⏎y", "u⏎u⏎", "u⏎u⏎⏎", "u⏎uu", "u⏎u←y", "u⏎⏎y", "u⏎e⏎", "u←y", "u⏎⇟⇟y", "u7"])
    func putsNothing(keys: String) throws {
        var driver = try driver()
        driver.press(keys)
        #expect(driver.putBacks.allSatisfy { if case .foresee = $0 { true } else { false } })
    }

    @Test("Nothing is put back before its screen was visible long enough, and what it shows is its stage")
    func unarmed() throws {
        var driver = try driver()
        driver.press("u⏎u")
        let stage = driver.screen.stage
        driver.press("f")
        #expect(driver.screen.stage != stage)
        driver.isArmed = false
        #expect(driver.press("y") == .tooEarly)
    }

    @Test("Conflicts are named first, and left unless the person says so")
    func conflicts() throws {
        var driver = try driver()
        driver.press("u⏎u")
        #expect(driver.shows("Contacts: brings back 1, deletes 1") && driver.shows("leaves 1 as they are"))
        let contacts = driver.lines.map(\.text).filter { ["Ada", "Bob", "Cid"].contains(where: $0.contains) }
        #expect(contacts.first?.contains("somebody else") == true && contacts.count == 3)
        driver.press("f")
        #expect(driver.shows("changes 1") && !driver.shows("[f]") && !driver.shows("somebody else"))
        driver.press("b⏎")
        #expect(driver.shows("Put back Cid?") && !driver.shows("[y]") && driver.press("y") == .nothing)
        // Both sides are shown: what somebody else made of the contact, and what it was.
        #expect(["Baker", "+1 555 0199", "+1 555 0100"].allSatisfy(driver.shows))
    }

    @Test("Only a review that the person leaves after putting back says so")
    func done() throws {
        var driver = try driver()
        driver.press("u⏎u")
        #expect((driver.screen.dialogue as? ManageDialogue)?.past.done == nil)
        driver.press("y")
        #expect((driver.screen.dialogue as? ManageDialogue)?.past.done?.contains("brings back 1") == true)
        #expect(driver.press("⎋") == .answer(.dismissed))
    }

    @Test(
        "Each screen fits in every language, also on the smallest terminal",
        arguments: ["en", "de", "fr", "es", "ja", "zh-Hans", "ar"])
    func fits(language: String) throws {
        for size in [ScreenSize.minimum, Driver.size] {
            var driver = try driver(language, on: size)
            for key in "u⏎ubef" {
                driver.expectFit("\(language) before \(key)")
                driver.press(String(key))
            }
            driver.expectFit(Comment(rawValue: language))
            #expect(driver.shows("[y]") && driver.shows("[b]"))
        }
    }

    @Test("A list without saves says so, and a long one scrolls")
    func lengths() throws {
        var past = PastChanges(.inEnglish)
        var driver = try driver(on: .minimum)
        driver.press("u")
        driver.screen.changePast { $0.listed([]) }
        #expect(driver.shows("Nothing that can be put back") && driver.press("⏎") == .nothing)
        let saves = (1...40).map { PastSave(number: $0, time: 0, added: Int($0), changed: 0, deleted: 0, contacts: []) }
        past.listed(saves)
        driver.screen.changePast { $0.listed(saves) }
        driver.press("⤓")
        driver.expectFit("40 saves")
        #expect(driver.shows("adds 40") && driver.press("⏎") == .foresee(PutBackRequest(save: 40)))
    }
}
