import Glibc

/// Splits a stream of bytes into frames, which end with a NUL (varlink.org, Method Call).
///
/// It never blocks and owns no descriptor. It searches every byte for a NUL only once, however the stream is
/// split. Memory for a long frame is released when the frame has been taken.
public struct FrameDecoder: Sendable {
    /// The longest accepted frame, in bytes, without its NUL.
    public let maximumFrameSize: Int

    private var buffer: [UInt8] = []
    /// The index at which the next frame begins.
    private var start = 0
    /// The bytes from `start` up to this index contain no NUL.
    private var searched = 0

    /// The maximum capacity, in bytes, that an empty buffer keeps for the next frame.
    private let keptCapacity: Int

    /// When more bytes are buffered, the buffer gets room for a frame of the maximum size at once.
    private static let largeFrame = 2 * 1_048_576
    /// The bytes that callers append at once, at most; ``nextFrame()`` notices a frame that is too long only afterwards.
    private static let largestAppend = 64 * 1_024

    public init(maximumFrameSize: Int, keptCapacity: Int = 64 * 1_024) {
        self.maximumFrameSize = maximumFrameSize
        self.keptCapacity = keptCapacity
    }

    /// The number of bytes in the buffer: complete frames that were not taken yet, and the beginning of another.
    public var bufferedBytes: Int { buffer.count - start }

    public mutating func append(_ bytes: RawSpan) {
        if start > 0, start >= buffer.count / 2 { compact() }
        if buffer.count > Self.largeFrame, buffer.capacity < maximumFrameSize {
            // Growing step by step would copy the buffer each time. The rest takes no memory until it is written.
            buffer.reserveCapacity(maximumFrameSize + Self.largestAppend)
        }
        // Sound: the pointer does not leave the closure.
        unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
    }

    public mutating func append(_ bytes: [UInt8]) {
        append(bytes.span.bytes)
    }

    /// Returns the next frame without its NUL; `nil` if it is not complete yet.
    ///
    /// - Throws: ``FrameError/tooLong`` as soon as the limit is passed, not when the NUL arrives, so that a
    ///   peer that never ends its frame cannot make the buffer grow. The connection must then be closed,
    ///   because the start of the next frame is unknown.
    public mutating func nextFrame() throws(FrameError) -> [UInt8]? {
        guard let end = firstNUL() else {
            searched = buffer.count
            guard bufferedBytes <= maximumFrameSize else { throw .tooLong }
            return nil
        }
        guard end - start <= maximumFrameSize else { throw .tooLong }
        if start == 0, end == buffer.count - 1, buffer.count > keptCapacity {
            // Takes the buffer itself: copying a long frame takes milliseconds.
            var frame = buffer
            clear()
            frame.removeLast()
            return frame
        }
        let frame = Array(buffer[start..<end])
        start = end + 1
        searched = start
        if start == buffer.count { clear() }
        return frame
    }

    /// Whether ``nextFrame()`` would return a frame, or throw.
    public mutating func hasFrame() -> Bool {
        if bufferedBytes == 0 { return false }
        guard let end = firstNUL() else {
            searched = buffer.count
            return bufferedBytes > maximumFrameSize
        }
        searched = end
        return true
    }

    private func firstNUL() -> Int? {
        guard searched < buffer.count else { return nil }
        // Sound: memchr(3) reads no byte beyond the count that it is given.
        return buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            return memchr(base + searched, 0, bytes.count - searched).map { UnsafeRawPointer($0) - base }
        }
    }

    private mutating func clear() {
        buffer.removeAll(keepingCapacity: buffer.capacity <= keptCapacity)
        start = 0
        searched = 0
    }

    private mutating func compact() {
        if start == buffer.count {
            clear()
        } else {
            buffer.removeSubrange(..<start)
            searched -= start
            start = 0
        }
    }
}

/// Why a stream cannot be split into further frames.
public enum FrameError: Error, Hashable, Sendable {
    /// The next frame is longer than the decoder accepts.
    case tooLong
}
