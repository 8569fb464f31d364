import CBrokerLinux
import Glibc

/// Runs `contactbroker-thumbnail`, which makes a thumbnail of a photo in a confined process.
///
/// A photo is untrusted, and bugs in image decoders have been exploited. Therefore, no process with access to
/// contacts decodes photos.
public struct ThumbnailProgram: Sendable {
    /// The time in milliseconds after which the program is killed.
    public static let patience: CInt = 10_000
    /// The maximum length of a thumbnail in base64 characters, for a JPEG of 64 KiB.
    public static let limit = 87_384

    private let path: String
    private let patience: CInt

    public init(path: String) { self.init(path: path, patience: Self.patience) }

    init(path: String, patience: CInt) {
        self.path = path
        self.patience = patience
    }

    /// The program in the folder of this executable; `nil` if there is none.
    public static var nextToThisOne: ThumbnailProgram? {
        var link = [CChar](repeating: 0, count: 4_097)
        let count = readlink("/proc/self/exe", &link, link.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: link[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        let path = own[...slash] + "contactbroker-thumbnail"
        return access(String(path), X_OK) == 0 ? ThumbnailProgram(path: String(path)) : nil
    }

    /// Returns a JPEG in base64, of at most 320 pixels on its longer side. Not for the event loop, because it
    /// waits for the program.
    ///
    /// - Parameter photo: the photo in base64.
    /// - Returns: `nil` if the bytes are not a photo, are too large or take too long, or if the program
    ///   cannot be run.
    public func thumbnail(of photo: [UInt8]) -> [UInt8]? {
        let text = [UInt8](unsafeUninitializedCapacity: Self.limit) { room, size in
            let count = photo.withUnsafeBytes {
                clinux_filter(path, $0.baseAddress, $0.count, room.baseAddress, Self.limit, patience)
            }
            size = max(0, count)
        }
        return Self.isThumbnail(text) ? text : nil
    }

    /// Checks the output, because a photo may have exploited the program. The output must be base64 that
    /// begins like a JPEG, so nothing else gets into a reply.
    static func isThumbnail(_ text: [UInt8]) -> Bool {
        guard text.count % 4 == 0, text.starts(with: Array("/9j/".utf8)) else { return false }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        return text.dropLast(padding).allSatisfy {
            switch $0 {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}
