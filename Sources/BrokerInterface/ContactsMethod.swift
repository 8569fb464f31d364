/// Methods of `io.contactbroker.Contacts`.
public enum ContactsMethod: String, CaseIterable, Sendable {
    case getAuthorization = "GetAuthorization"
    case requestAccess = "RequestAccess"
    case fetchContacts = "FetchContacts"
    case countContacts = "CountContacts"
    case saveContacts = "SaveContacts"
    case listSaves = "ListSaves"
    case takeBack = "TakeBack"
    case listLinkedContacts = "ListLinkedContacts"
    case getUserDefaults = "GetUserDefaults"
    case setUserDefaults = "SetUserDefaults"
    case listContainers = "ListContainers"
    case listGroups = "ListGroups"
    case watchChanges = "WatchChanges"
    case fetchHistory = "FetchHistory"
    case requestContacts = "RequestContacts"
    case updateRequest = "UpdateRequest"
    case manageAccess = "ManageAccess"
    case pickContacts = "PickContacts"
    case proposeContact = "ProposeContact"
}

/// Methods of `io.contactbroker.Agent`.
public enum AgentMethod: String, CaseIterable, Sendable {
    case serve = "Serve"
    case search = "Search"
    case show = "Show"
    case keepOpen = "KeepOpen"
    case answer = "Answer"
    case listGrants = "ListGrants"
    case manage = "Manage"
    case declareFolder = "DeclareFolder"
    case listFolders = "ListFolders"
    case endFolder = "EndFolder"
    case listChanges = "ListChanges"
    case putBack = "PutBack"
}

/// Methods of `io.contactbroker.CardDAV`.
public enum CardDAVMethod: String, CaseIterable, Sendable {
    case announce = "Announce"
    case open = "Open"
}

/// Methods of `io.contactbroker.Admin`.
public enum AdminMethod: String, CaseIterable, Sendable {
    case listGrants = "ListGrants"
    case setGrant = "SetGrant"
    case resetGrant = "ResetGrant"
    case endSessionGrants = "EndSessionGrants"
    case queryAudit = "QueryAudit"
    case findContactAccess = "FindContactAccess"
    case changeGrantedContacts = "ChangeGrantedContacts"
    case verifyAudit = "VerifyAudit"
    case listPending = "ListPending"
    case explainDecision = "ExplainDecision"
    case getStatus = "GetStatus"
    case reloadPolicy = "ReloadPolicy"
    case explainPolicy = "ExplainPolicy"
    case tryPolicy = "TryPolicy"
    case purgeUser = "PurgeUser"
    case getMetrics = "GetMetrics"
    case listUsers = "ListUsers"
    case backUp = "BackUp"
    case beginRestore = "BeginRestore"
    case restoreLines = "RestoreLines"
    case finishRestore = "FinishRestore"
    case listChanges = "ListChanges"
    case putBack = "PutBack"
    case getBin = "GetBin"
    case setBinDays = "SetBinDays"
    case emptyBin = "EmptyBin"
    case connect = "Connect"
    case disconnect = "Disconnect"
    case listConnections = "ListConnections"
}
