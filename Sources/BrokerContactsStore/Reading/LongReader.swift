import Synchronization

/// The connection for reads that are too long for the loop: they keep neither the loop nor a save waiting, and see the book as
/// it was when they began. It is opened when it is first needed.
final class LongReader: Sendable {
    private let open: @Sendable (ReadBound) throws(StoreError) -> sending BookReader
    private let bound = ReadBound()
    private let reader = Mutex<BookReader?>(nil)
    /// Held while the log is emptied: that waits for reads to end, and others must not begin meanwhile.
    private let beginning = Mutex(())

    init(open: @escaping @Sendable (ReadBound) throws(StoreError) -> sending BookReader) { self.open = open }

    func read<Result: Sendable>(_ body: (BookReader) throws -> Result) throws(StoreError) -> Result {
        beginning.withLock { _ in }
        do throws(StoreError) {
            return try reader.withLock { reader throws(StoreError) in
                guard !bound.isClosed else { throw ContactsStore.closed }
                if reader == nil { reader = try open(bound) }
                guard let reader else { throw ContactsStore.closed }
                try reader.begin(isBounded: false)
                do { return try body(reader) } catch { throw reader.endFailed(error) }
            }
        } catch {
            throw bound.isClosed ? ContactsStore.closed : error
        }
    }

    /// Runs while no read is on its way.
    func between<Result: Sendable>(_ body: () -> Result) -> Result { reader.withLock { _ in body() } }

    /// Lets the read that is on its way go on, and has others wait until `body` is done.
    func pause(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try beginning.withLock { _ throws(StoreError) in try body() }
    }

    /// Gives back what it has, unless it is being used.
    func rest() {
        _ = reader.withLockIfAvailable {
            $0?.close()
            $0 = nil
        }
    }

    /// Ends the read that is on its way, and every later one.
    func close() {
        bound.close()
        reader.withLock {
            $0?.close()
            $0 = nil
        }
    }
}
