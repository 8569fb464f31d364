import Synchronization

/// Stores one object, which is set once and never changes. Any thread may set it; the first one wins.
///
/// This replaces `AtomicLazyReference` of the Synchronization library. On Linux, that library is not built
/// with the thread sanitizer, so the sanitizer does not see the memory ordering of `AtomicLazyReference`.
struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The retained object's address; 0 if none is set.
    private let address = Atomic<UInt>(0)

    deinit {
        guard let address = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return }
        // Sound: the object was retained when it was set, and no thread can read it during the deinit.
        Unmanaged<Object>.fromOpaque(address).release()
    }

    var value: Object? {
        guard let address = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return nil }
        // Sound: the address belongs to an Object that is retained for as long as this value exists.
        return Unmanaged<Object>.fromOpaque(address).takeUnretainedValue()
    }

    /// Sets the object, if none is set.
    ///
    /// - Returns: the object that is set afterwards.
    func set(_ object: Object) -> Object {
        let retained = Unmanaged.passRetained(object)
        let (isFirst, _) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
        if isFirst { return object }
        retained.release()
        return value ?? object
    }
}
