import BrokerSQLite

typealias Database = Connection<AccessStoreError>
typealias PreparedStatement = Statement<AccessStoreError>

extension Connection<AccessStoreError> {
    /// Only a checkpoint or another reader's recovery can make us wait; neither takes long.
    static func open(_ path: String, _ mode: Mode) throws(AccessStoreError) -> Database {
        try Database(path: path, mode, patience: 5_000)
    }
}

extension Statement<AccessStoreError> {
    /// A text, by its length: a NUL inside must not end what is hashed elsewhere in full.
    @discardableResult
    func bind(_ index: Int32, text: (some AuditText)?) -> PreparedStatement {
        guard let text else { return bind(index, String?.none) }
        return text.withBytes { bind(index, utf8: $0) }
    }
}
