import Synchronization

/// A place for one object, which is put there once and stays. Any thread may put it there; one of them is believed.
///
/// As `AtomicLazyReference`, whose order the thread sanitizer does not see on Linux: that library is not built with it.
struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The object's address, retained; 0 before.
    private let address = Atomic<UInt>(0)

    deinit {
        guard let address = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return }
        // Sound: it was retained when it was put here, and nobody looks any more.
        Unmanaged<Object>.fromOpaque(address).release()
    }

    var value: Object? {
        guard let address = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return nil }
        // Sound: the address is of an Object, which is retained as long as this is there.
        return Unmanaged<Object>.fromOpaque(address).takeUnretainedValue()
    }

    /// Puts the object here, if there is none yet.
    ///
    /// - Returns: the one that is here.
    func set(_ object: Object) -> Object {
        let retained = Unmanaged.passRetained(object)
        let (isFirst, _) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
        if isFirst { return object }
        retained.release()
        return value ?? object
    }
}
