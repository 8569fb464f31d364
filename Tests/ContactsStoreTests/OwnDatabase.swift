@testable import BrokerContactsStore

// GRDB, with which some tests inspect files, has the same names.
typealias OwnDatabase = Database
typealias OwnMigrator = DatabaseMigrator
