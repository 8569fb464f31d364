extension Contact {
    /// Checks what a client writes, key by key.
    ///
    /// - Parameter keys: the keys that the client named.
    /// - Throws: ``ContactError`` for the first key, in the order of the stored form, that cannot be taken.
    public func validate(writing keys: ContactKeySet, limits: ContactLimits = ContactLimits()) throws(ContactError) {
    }
}
