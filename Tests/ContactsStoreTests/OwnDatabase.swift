@testable import BrokerContactsStore

// What has the same names in the library that some tests look into a file with.
typealias OwnDatabase = Database
typealias OwnMigrator = DatabaseMigrator
