import BrokerModel
import Testing

@Suite("Apple's predefined labels")
struct PredefinedLabelTests {
    @Test(
        "Each label has its stored form",
        arguments: [
            (PredefinedLabel.home, "_$!<Home>!$_", "Home"), (PredefinedLabel.work, "_$!<Work>!$_", "Work"),
            (PredefinedLabel.school, "_$!<School>!$_", "School"), (PredefinedLabel.other, "_$!<Other>!$_", "Other"),
            (PredefinedLabel.iCloud, "iCloud", "iCloud"), (PredefinedLabel.iPhone, "iPhone", "iPhone"),
            (PredefinedLabel.homePage, "_$!<HomePage>!$_", "HomePage"), (PredefinedLabel.main, "_$!<Main>!$_", "Main"),
            (PredefinedLabel.anniversary, "_$!<Anniversary>!$_", "Anniversary"),
            (PredefinedLabel.appleWatch, "_$!<AppleWatch>!$_", "AppleWatch"),
            (PredefinedLabel.mobile, "_$!<Mobile>!$_", "Mobile"), (PredefinedLabel.pager, "_$!<Pager>!$_", "Pager"),
            (PredefinedLabel.homeFax, "_$!<HomeFAX>!$_", "HomeFAX"),
            (PredefinedLabel.workFax, "_$!<WorkFAX>!$_", "WorkFAX"),
            (PredefinedLabel.otherFax, "_$!<OtherFAX>!$_", "OtherFAX"),
        ])
    func stored(label: String, form: String, name: String) {
        #expect(label == form)
        #expect(PredefinedLabel.name(of: label) == name)
        #expect(PredefinedLabel.general.contains(label))
    }

    @Test("Every relation label of Apple's exists exactly once")
    func relations() {
        let names = PredefinedLabel.relationNames
        #expect(names.count == 216 && Set(names).count == 216)
        #expect(names.first == "Assistant" && names.last == "YoungestSister")
        #expect(names == names.sorted())
        for name in names {
            #expect(PredefinedLabel.name(of: PredefinedLabel.relation(name)) == name)
            #expect(name.allSatisfy { $0.isASCII && $0.isLetter })
        }
        for name in [
            "Mother", "CoSiblingInLaw", "ElderCousinMothersSiblingsSonOrFathersSistersSon", "GirlfriendOrBoyfriend",
        ] {
            #expect(names.contains(name))
        }
    }

    @Test(
        "A custom label has no predefined name",
        arguments: ["", "Home", "home", "_$!<>!$_", "_$!<Home", "Home>!$_", "boat", "_$!<"])
    func own(label: String) {
        #expect(PredefinedLabel.name(of: label) == nil)
    }
}
