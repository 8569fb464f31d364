/// The answer of each method at each authorization level, as a table.
///
/// The table follows from the rules of authorization and the interface's documentation, not from the code. In an
/// answer, placeholders such as `<ada>` and `<token>` stand for values that only the broker knows: this app's
/// identifiers, and tokens.
enum AuthorizationTable {
    /// The app's level when it calls, and what the person does if they are prompted.
    enum Level: CaseIterable {
        case notDeterminedDismissed, notDeterminedRefused, notDeterminedWithoutAgent
        case limited, full, denied
        /// The policy denies the app: in the first case nothing was decided about it, in the second it was granted full
        /// access.
        case restrictedUndecided, restricted
        /// The grant is full, but the policy allows limited access at most: the granted set is empty.
        case capped
        /// The grant is limited, and the policy allows no key but given names.
        case cappedKeys
    }

    /// How a method answers at each level.
    enum Columns {
        /// Fetch, count, history, save, groups and containers: an undecided app causes a prompt for access first.
        /// `capped` and `cappedKeys` are given only where they differ from `limited`.
        case reading(limited: Cell, full: Cell, capped: Cell? = nil, cappedKeys: Cell? = nil)
        /// Answers without a prompt.
        case atOnce(
            notDetermined: String, limited: String, full: String, denied: String, restricted: String,
            cappedKeys: String)
        /// Prompts the person with this kind of prompt. Every outcome that grants nothing gets the same answer,
        /// `empty`.
        case asking(String, Asked, empty: String)
        case requestingAccess
    }

    /// The levels at which the person is prompted. At the other levels the app gets an empty answer at once.
    enum Asked {
        case always
        /// Unless the app has full access.
        case unlessFull
        /// Only if the app has a granted set to manage.
        case ifLimited
    }

    /// The answer about a record that the app may see, and about any other record.
    struct Cell {
        let visible: String
        let hidden: String
        init(_ visible: String, _ hidden: String) { (self.visible, self.hidden) = (visible, hidden) }
        init(_ text: String) { (visible, hidden) = (text, text) }
    }

    struct Row {
        let method: String
        /// `<record>` and `<group>` stand for the record that the call names.
        let parameters: String
        let more: Bool
        let columns: Columns

        init(_ method: String, _ parameters: String, more: Bool = false, _ columns: Columns) {
            (self.method, self.parameters, self.more, self.columns) = (method, parameters, more, columns)
        }
    }

    static let notDetermined = "AuthorizationNotDetermined {}"
    static let denied = "AccessDenied {}"
    private static let none = "RecordDoesNotExist {}"
    private static let noStep = #"RecordDoesNotExist {"index":0}"#
    private static let noParent = #"ParentRecordDoesNotExist {"index":0}"#
    private static let notWritable = #"RecordNotWritable {"index":0}"#
    private static let saved = #"{"identifiers":[""],"historyToken":"<token>"}"#
    private static let local =
        #"{"containers":[{"identifier":"<container>","name":"Local","kind":"local"}],"defaultContainer":"<container>"}"#

    static let ordinaryKeys = """
        "contactType","namePrefix","givenName","middleName","familyName","previousFamilyName","nameSuffix","nickname",\
        "phoneticGivenName","phoneticMiddleName","phoneticFamilyName","organizationName","departmentName","jobTitle",\
        "phoneticOrganizationName","birthday","nonGregorianBirthday","phoneNumbers","emailAddresses","postalAddresses",\
        "dates","urlAddresses","contactRelations","socialProfiles","instantMessageAddresses","creationDate",\
        "modificationDate","imageDataAvailable","thumbnailImageData","imageData"
        """

    private static func mine(_ parents: String = "") -> String {
        #"{"identifier":"<mine>","name":"Mine","container":"<container>","parents":[\#(parents)]}"#
    }
    private static let theirs = #"{"identifier":"<theirs>","name":"Theirs","container":"<container>","parents":[]}"#
    private static func added(_ name: String) -> String {
        let identifier = "<\(name.lowercased())>"
        return #"{"kind":"addContact","contact":{"identifier":"\#(identifier)","givenName":"\#(name)"},"#
            + #""identifier":"\#(identifier)","container":"<container>"}"#
    }
    private static func added(_ group: String, called name: String) -> String {
        #"{"kind":"addGroup","group":{"identifier":"<\#(name)>","name":"\#(group)","container":"<container>","#
            + #""parents":[]},"identifier":"<\#(name)>","container":"<container>"}"#
    }
    private static func joined(_ group: String, _ member: String) -> String {
        #"{"kind":"addMember","identifier":"<\#(group)>","member":"<\#(member)>"}"#
    }

    private static func history(_ events: String...) -> Cell {
        Cell(#"{"events":[\#(events.joined(separator: ","))],"historyToken":"<token>"}"#)
    }

    private static func step(_ operation: String, _ fields: String = "") -> String {
        #"{"changes":[{"operation":"\#(operation)"\#(fields)}]}"#
    }
    private static let theRecord = #","contact":{"identifier":"<record>"}"#
    private static let theGroup = #","group":{"identifier":"<group>","name":"<name>"}"#
    private static let inMine = #","group":{"identifier":"<mine>","name":"Mine"}"#

    /// Calls that name no record.
    static let general: [Row] = [
        Row(
            "GetAuthorization", "{}",
            .atOnce(
                notDetermined: #"{"status":"notDetermined"}"#,
                limited: #"{"status":"limited","keys":[\#(ordinaryKeys)],"changes":"all"}"#,
                full: #"{"status":"full","keys":[\#(ordinaryKeys)],"changes":"all"}"#, denied: #"{"status":"denied"}"#,
                restricted: #"{"status":"restricted"}"#,
                cappedKeys: #"{"status":"limited","keys":["givenName"],"changes":"all"}"#)),
        Row("RequestAccess", "{}", .requestingAccess),
        Row(
            "FetchContacts", #"{"keys":["givenName"],"sortOrder":"givenName"}"#,
            .reading(
                limited: Cell(
                    #"{"contacts":[{"identifier":"<ada>","givenName":"Ada"}],"historyToken":"<token>"}"#),
                full: Cell(
                    #"{"contacts":[{"identifier":"<ada>","givenName":"Ada"},{"identifier":"<bob>","givenName":"Bob"}],"#
                        + #""historyToken":"<token>"}"#),
                capped: Cell(#"{"contacts":[],"historyToken":"<token>"}"#))),
        Row(
            "FetchContacts", #"{"keys":["note"]}"#,
            .reading(
                limited: Cell(#"UnauthorizedKeys {"keys":["note"]}"#),
                full: Cell(#"UnauthorizedKeys {"keys":["note"]}"#))),
        Row(
            "ListSaves", "{}",
            .reading(
                limited: Cell(#"{"saves":[],"days":30}"#), full: Cell(#"{"saves":[],"days":30}"#))),
        Row(
            "TakeBack", #"{"group":"none"}"#,
            .reading(limited: Cell("SaveDoesNotExist {}"), full: Cell("SaveDoesNotExist {}"))),
        Row(
            "CountContacts", "{}",
            .reading(
                limited: Cell(#"{"count":1}"#), full: Cell(#"{"count":2}"#), capped: Cell(#"{"count":0}"#))),
        Row(
            "CountContacts", #"{"predicate":{"emailAddress":"bob@example.org"}}"#,
            .reading(limited: Cell(#"{"count":0}"#), full: Cell(#"{"count":1}"#))),
        Row(
            "SaveContacts", #"{"changes":[]}"#,
            .reading(
                limited: Cell(#"{"identifiers":[],"historyToken":"<token>"}"#),
                full: Cell(#"{"identifiers":[],"historyToken":"<token>"}"#))),
        Row("ListContainers", "{}", .reading(limited: Cell(local), full: Cell(local))),
        Row(
            "ListGroups", "{}",
            .reading(
                limited: Cell(#"{"groups":[\#(mine())]}"#), full: Cell(#"{"groups":[\#(mine()),\#(theirs)]}"#))),
        Row(
            "GetUserDefaults", "{}",
            .reading(
                limited: Cell(#"{"sortOrder":"familyName","displayOrder":"givenName","countryCode":"","language":""}"#),
                full: Cell(#"{"sortOrder":"familyName","displayOrder":"givenName","countryCode":"","language":""}"#))),
        Row(
            "SetUserDefaults", #"{"sortOrder":"familyName"}"#,
            .reading(limited: Cell(denied), full: Cell("{}"))),
        Row(
            "WatchChanges", "{}", more: true,
            .atOnce(
                notDetermined: "waits", limited: #"{"historyToken":"<token>"} and goes on"#,
                full: #"{"historyToken":"<token>"} and goes on"#, denied: denied, restricted: denied,
                cappedKeys: #"{"historyToken":"<token>"} and goes on"#)),
        Row(
            "FetchHistory", #"{"keys":["givenName"],"includeGroups":true}"#,
            .reading(
                limited: history(
                    #"{"kind":"dropEverything"}"#, added("Ada"), added("Mine", called: "mine"),
                    joined("mine", "ada")),
                full: history(
                    #"{"kind":"dropEverything"}"#, added("Ada"), added("Bob"), added("Mine", called: "mine"),
                    added("Theirs", called: "theirs"), joined("mine", "ada"), joined("theirs", "bob")),
                capped: history(#"{"kind":"dropEverything"}"#, added("Mine", called: "mine")))),
        // The answer does not depend on whether a contact matches.
        Row("RequestContacts", #"{"query":"Bob"}"#, .asking("button", .unlessFull, empty: #"{"identifiers":[]}"#)),
        Row("RequestContacts", #"{"query":"Nobody"}"#, .asking("button", .unlessFull, empty: #"{"identifiers":[]}"#)),
        Row(
            "UpdateRequest", #"{"token":"a-request","query":"Bob"}"#,
            .atOnce(
                notDetermined: "{}", limited: "{}", full: "{}", denied: "{}", restricted: "{}", cappedKeys: "{}")),
        Row("ManageAccess", "{}", .asking("manage", .ifLimited, empty: #"{"identifiers":[]}"#)),
        Row("PickContacts", #"{"keys":["givenName"]}"#, .asking("pick", .always, empty: #"{"contacts":[]}"#)),
        Row("ProposeContact", #"{"contact":{"givenName":"New"}}"#, .asking("propose", .always, empty: "{}")),
    ]

    /// Calls that name a contact. A row that deletes comes last.
    static let ofContacts: [Row] = [
        Row(
            "FetchContacts", #"{"keys":["givenName"],"predicate":{"identifiers":["<record>"]}}"#,
            .reading(limited: fetched, full: fetched)),
        Row(
            "FetchContacts",
            #"{"keys":["givenName"],"predicate":{"identifiers":["<record>"]},"sortOrder":"givenName"}"#,
            .reading(limited: fetched, full: fetched)),
        Row(
            "CountContacts", #"{"predicate":{"identifiers":["<record>"]}}"#,
            .reading(
                limited: Cell(#"{"count":1}"#, #"{"count":0}"#), full: Cell(#"{"count":1}"#, #"{"count":0}"#))),
        Row(
            "ListLinkedContacts", #"{"identifier":"<record>"}"#,
            .reading(
                limited: Cell(#"{"identifiers":["<record>"]}"#, none),
                full: Cell(#"{"identifiers":["<record>"]}"#, none))),
        Row(
            "ListContainers", #"{"contact":"<record>"}"#, .reading(limited: Cell(local, none), full: Cell(local, none))),
        Row(
            "SaveContacts", step("update", #","contact":{"identifier":"<record>","nickname":"N"}"#),
            .reading(
                limited: Cell(saved, noStep), full: Cell(saved, noStep),
                cappedKeys: Cell(#"UnauthorizedKeys {"keys":["nickname"]}"#, noStep))),
        Row(
            "SaveContacts", step("update", #","contact":{"identifier":"<record>","note":"N"}"#),
            .reading(
                limited: Cell(#"UnauthorizedKeys {"keys":["note"]}"#, noStep),
                full: Cell(#"UnauthorizedKeys {"keys":["note"]}"#, noStep))),
        Row(
            "SaveContacts", step("update", #","contact":{"identifier":"<record>","birthday":"yesterday"}"#),
            .reading(
                limited: Cell(#"InvalidContact {"index":0,"key":"birthday","reason":"<reason>"}"#, noStep),
                full: Cell(#"InvalidContact {"index":0,"key":"birthday","reason":"<reason>"}"#, noStep))),
        Row(
            "SaveContacts", step("removeMember", inMine + #","member":"<record>""#),
            .reading(limited: Cell(saved, noStep), full: Cell(saved, noStep))),
        Row(
            "SaveContacts", step("addMember", inMine + #","member":"<record>""#),
            .reading(limited: Cell(saved, noStep), full: Cell(saved, noStep))),
        // A limited app may not take these steps, whatever it names.
        Row(
            "SaveContacts", step("link", theRecord + #","member":"<record>""#),
            .reading(limited: Cell(notWritable), full: Cell(saved, noStep))),
        Row(
            "SaveContacts", step("unlink", theRecord + #","member":"<record>""#),
            .reading(limited: Cell(notWritable), full: Cell(saved, noStep))),
        Row(
            "SaveContacts", step("setMe", theRecord),
            .reading(limited: Cell(notWritable), full: Cell(saved, noStep))),
        // The answer does not depend on the identifiers in the request.
        Row(
            "PickContacts", #"{"keys":["givenName"],"enabling":{"excludedIdentifiers":["<record>"]}}"#,
            .asking("pick", .always, empty: #"{"contacts":[]}"#)),
        // An app that cannot read every key may delete only cards that it created.
        Row(
            "SaveContacts", step("delete", theRecord),
            .reading(
                limited: Cell(saved, noStep), full: Cell(saved, noStep),
                cappedKeys: Cell(#"RecordNotWritable {"index":0,"identifier":"<record>"}"#, noStep))
        ),
    ]
    private static let fetched = Cell(
        #"{"contacts":[{"identifier":"<record>","givenName":"<name>"}],"historyToken":"<token>"}"#,
        #"{"contacts":[],"historyToken":"<token>"}"#)

    /// Calls that name a group. A row that deletes comes last.
    static let ofGroups: [Row] = [
        Row(
            "FetchContacts", #"{"keys":["givenName"],"predicate":{"group":"<group>"},"sortOrder":"givenName"}"#,
            .reading(limited: members, full: members, capped: Cell(nobody))),
        Row(
            "CountContacts", #"{"predicate":{"group":"<group>"}}"#,
            .reading(
                limited: Cell(#"{"count":<members>}"#, #"{"count":0}"#),
                full: Cell(#"{"count":<members>}"#, #"{"count":0}"#), capped: Cell(#"{"count":0}"#))),
        Row(
            "ListGroups", #"{"identifiers":["<group>"]}"#,
            .reading(limited: listed, full: listed)),
        Row("ListContainers", #"{"group":"<group>"}"#, .reading(limited: Cell(local, none), full: Cell(local, none))),
        Row(
            "SaveContacts", step("update", theGroup), .reading(limited: Cell(saved, noStep), full: Cell(saved, noStep))),
        Row(
            "SaveContacts", step("addSubgroup", theGroup + #","member":"<group>""#),
            .reading(
                limited: Cell(#"ContainmentCycle {"index":0}"#, noParent),
                full: Cell(#"ContainmentCycle {"index":0}"#, noParent))),
        Row(
            "SaveContacts", step("removeSubgroup", theGroup + #","member":"<group>""#),
            .reading(limited: Cell(saved, noParent), full: Cell(saved, noParent))),
        Row(
            "SaveContacts", step("addMember", theGroup + #","member":"<ada>""#),
            .reading(
                limited: Cell(saved, noParent), full: Cell(saved, noParent), capped: Cell(noStep, noParent))),
        Row(
            "SaveContacts", step("removeMember", theGroup + #","member":"<bob>""#),
            .reading(limited: Cell(noStep, noParent), full: Cell(saved, noParent))),
        Row(
            "SaveContacts", step("delete", theGroup), .reading(limited: Cell(saved, noStep), full: Cell(saved, noStep))),
    ]
    private static let nobody = #"{"contacts":[],"historyToken":"<token>"}"#
    private static let members = Cell(#"{"contacts":[<the members>],"historyToken":"<token>"}"#, nobody)
    private static let listed = Cell(
        #"{"groups":[{"identifier":"<group>","name":"<name>","container":"<container>","parents":[]}]}"#,
        #"{"groups":[]}"#)
}
