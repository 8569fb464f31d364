import BrokerVarlink

extension Call {
    /// Replies without parameters.
    package func reply() {
        reply(Array("{}".utf8))
    }
}
