import CBrokerLinux
import CTestImage
import Glibc
import Testing

@testable import BrokerThumbnails

private let programs: String = {
    var path = [CChar](repeating: 0, count: 4_096)
    let count = readlink("/proc/self/exe", &path, path.count)
    let executable = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let bundle = CommandLine.arguments.first { $0.hasPrefix("/") && $0.hasSuffix(".xctest") } ?? executable
    return bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
}()

private let program = ThumbnailProgram(path: programs + "/contactbroker-thumbnail")

/// The encoding of RFC 4648, section 4, independent of the code under test.
private enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(of bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let piece = bytes[start..<min(start + 3, bytes.count)]
            let bits = piece.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - piece.count))
            for place in 0..<4 {
                text.append(place <= piece.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return text
    }

    static func bytes(of text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for character in text {
            guard let value = alphabet.firstIndex(of: character) else { break }
            (bits, count) = ((bits << 6 | value) & 0xffff, count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }
}

private enum Photo {
    static func jpeg(_ width: UInt32, _ height: UInt32, orientation: Int32 = 0, progressive: Bool = false) -> [UInt8] {
        taken { test_image_jpeg(width, height, orientation, progressive ? 1 : 0, &$0) }
    }

    static func png(_ width: UInt32, _ height: UInt32, alpha: UInt8 = 255, interlaced: Bool = false) -> [UInt8] {
        taken { test_image_png(width, height, alpha, interlaced ? 1 : 0, &$0) }
    }

    private static func taken(_ make: (inout UnsafeMutablePointer<UInt8>?) -> Int) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = make(&bytes)
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}

private struct Thumbnail {
    let bytes: [UInt8]

    init?(_ photo: [UInt8]) {
        guard let text = program.thumbnail(of: Base64.text(of: photo)) else { return nil }
        bytes = Base64.bytes(of: text)
    }

    var size: [UInt32] { look(0, 0).map { [$0.width, $0.height] } ?? [] }

    /// The colour at a place, in hundredths from the left and the top: 1 for each component above half.
    func color(_ x: UInt32, _ y: UInt32) -> [Int] {
        guard let color = look(x, y)?.color else { return [] }
        return [16, 8, 0].map { color >> $0 & 255 > 127 ? 1 : 0 }
    }

    private func look(_ x: UInt32, _ y: UInt32) -> (width: UInt32, height: UInt32, color: UInt32)? {
        var (width, height, color): (UInt32, UInt32, UInt32) = (0, 0, 0)
        guard test_image_look(bytes, bytes.count, &width, &height, x, y, &color) == 0 else { return nil }
        return (width, height, color)
    }
}

private let (red, green, blue, white) = ([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1])

@Suite(
    "Making thumbnails", .enabled(if: test_image_is_sanitized() == 0, "no sanitizer runs shut in"),
    .timeLimit(.minutes(10)))
struct ThumbnailTests {
    @Test("A thumbnail is small, and shows the same picture", arguments: [true, false])
    func photos(isJPEG: Bool) throws {
        let thumbnail = try #require(Thumbnail(isJPEG ? Photo.jpeg(1_600, 1_200) : Photo.png(1_600, 1_200)))
        #expect(thumbnail.size == [320, 240])
        #expect(thumbnail.bytes.count <= 65_536)
        #expect(thumbnail.color(25, 75) == red)
        #expect(thumbnail.color(25, 10) == green)
        #expect(thumbnail.color(75, 50) == blue)
    }

    @Test("Progressive and interlaced photos have thumbnails", arguments: [true, false])
    func wholeOnes(isJPEG: Bool) throws {
        let photo = isJPEG ? Photo.jpeg(900, 1_800, progressive: true) : Photo.png(900, 1_800, interlaced: true)
        let thumbnail = try #require(Thumbnail(photo))
        #expect(thumbnail.size == [160, 320])
        #expect(thumbnail.color(25, 75) == red)
        #expect(thumbnail.color(75, 50) == blue)
    }

    @Test("A small photo keeps its size, and each side of a thumbnail has at least one pixel")
    func sizes() throws {
        for photo in [Photo.jpeg(40, 30), Photo.png(40, 30)] { #expect(Thumbnail(photo)?.size == [40, 30]) }
        for photo in [Photo.jpeg(4_000, 3), Photo.png(4_000, 3)] { #expect(Thumbnail(photo)?.size == [320, 1]) }
    }

    /// An EXIF orientation, and where the stored photo's upper left and upper right corners are shown, in hundredths
    /// from the left and the top.
    struct GroupCommit: Sendable {
        let orientation: Int32
        let upperLeft: (UInt32, UInt32)
        let upperRight: (UInt32, UInt32)
    }

    private static let (near, far): (UInt32, UInt32) = (8, 92)
    static let turns: [GroupCommit] = [
        GroupCommit(orientation: 1, upperLeft: (near, near), upperRight: (far, near)),
        GroupCommit(orientation: 2, upperLeft: (far, near), upperRight: (near, near)),
        GroupCommit(orientation: 3, upperLeft: (far, far), upperRight: (near, far)),
        GroupCommit(orientation: 4, upperLeft: (near, far), upperRight: (far, far)),
        GroupCommit(orientation: 5, upperLeft: (near, near), upperRight: (near, far)),
        GroupCommit(orientation: 6, upperLeft: (far, near), upperRight: (far, far)),
        GroupCommit(orientation: 7, upperLeft: (far, far), upperRight: (far, near)),
        GroupCommit(orientation: 8, upperLeft: (near, far), upperRight: (near, near)),
    ]

    @Test("The EXIF orientation is applied", arguments: turns)
    func orientation(iterate: GroupCommit) throws {
        let thumbnail = try #require(Thumbnail(Photo.jpeg(640, 320, orientation: iterate.orientation)))
        #expect(thumbnail.size == (iterate.orientation < 5 ? [320, 160] : [160, 320]))
        #expect(thumbnail.color(iterate.upperLeft.0, iterate.upperLeft.1) == green)
        #expect(thumbnail.color(iterate.upperRight.0, iterate.upperRight.1) == blue)
        // Other metadata is dropped.
        #expect(!thumbnail.bytes.indices.contains { thumbnail.bytes[$0...].starts(with: Array("Exif".utf8)) })
    }

    @Test("Transparent areas become white")
    func transparent() throws {
        let thumbnail = try #require(Thumbnail(Photo.png(640, 640, alpha: 0)))
        #expect(thumbnail.color(75, 50) == white)
        #expect(thumbnail.color(25, 75) == red)
    }

    @Test("A photo that is truncated anywhere has no thumbnail", arguments: 1..<10)
    func cut(tenths: Int) {
        for photo in [Photo.jpeg(800, 600), Photo.jpeg(800, 600, progressive: true), Photo.png(800, 600)] {
            #expect(Thumbnail(Array(photo.prefix(photo.count * tenths / 10))) == nil)
        }
    }

    /// A few hundred bytes whose header claims 60,000 by 60,000 pixels.
    private static let bombs: [[UInt8]] = {
        var png = Photo.png(64, 64)
        // IHDR: after eight bytes of signature, its length and its name. Its checksum changes too.
        png.replaceSubrange(16..<24, with: [0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60])
        let sum = png[12..<29].reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        png.replaceSubrange(29..<33, with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: ~sum >> $0) })
        var jpeg = Photo.jpeg(64, 64)
        // SOF0: length, precision, height and width.
        let frame = jpeg.indices.first { jpeg[$0...].starts(with: [0xff, 0xc0]) } ?? 0
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xea, 0x60, 0xea, 0x60])
        return [png, jpeg]
    }()

    @Test("A photo that claims to be enormous is not decoded", arguments: 0..<2)
    func bomb(kind: Int) {
        let clock = ContinuousClock()
        var quickest = Duration.seconds(60)
        // On a busy machine the start alone can take that long, but hardly five times.
        for _ in 0..<5 where quickest >= .seconds(1) {
            let start = clock.now
            #expect(Thumbnail(Self.bombs[kind]) == nil)
            quickest = min(quickest, clock.now - start)
        }
        #expect(quickest < .seconds(1))
    }

    // Without its own limits, decoding would not end for a long time. A busy machine is no reason to fail.
    @Test("A highly compressed photo within the bounds is decoded in time, or not at all", .timeLimit(.minutes(5)))
    func unrolled() {
        // 81 million pixels take about a hundred thousand bytes. Interlaced, they do not fit in memory.
        _ = Thumbnail(Photo.png(8_000, 4_000, interlaced: true))
        #expect(Thumbnail(Photo.png(9_000, 9_000, interlaced: true)) == nil)
    }

    @Test(
        "Data that is not a photo has no thumbnail",
        arguments: ["", "GIF89a", "RIFF    WEBPVP8 ", "\u{89}PNG", "<svg/>", "BM"])
    func others(text: String) {
        #expect(Thumbnail(Array(text.utf8)) == nil)
        #expect(Thumbnail([0xff, 0xd8, 0xff] + Array(text.utf8)) == nil)
        #expect(Thumbnail([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + Array(text.utf8)) == nil)
    }

    @Test("Eight megabytes of noise have no thumbnail, whatever they begin with", arguments: [0, 1, 2])
    func noise(kind: Int) {
        var number = UInt64(kind) + 0x9e37_79b9_7f4a_7c15
        var bytes = (0..<8_388_608).map { _ in
            number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: number >> 33)
        }
        let beginnings = [[], Array(Photo.jpeg(640, 480).prefix(700)), Array(Photo.png(640, 480).prefix(100))]
        bytes.replaceSubrange(0..<beginnings[kind].count, with: beginnings[kind])
        let text = Base64.text(of: bytes)
        let clock = ContinuousClock()
        let start = clock.now
        let thumbnail = program.thumbnail(of: text)
        #expect(clock.now - start < .seconds(30))
        // Noise after a valid header may decode to a picture of noise. Its thumbnail is small too.
        if let thumbnail { #expect(Base64.bytes(of: thumbnail).count <= 65_536) }
    }

    @Test("Data that is not base64, or too long, is refused")
    func text() {
        #expect(program.thumbnail(of: Array("/9j/ 4AAQ".utf8)) == nil)
        #expect(program.thumbnail(of: Array("A".utf8)) == nil)
        #expect(program.thumbnail(of: []) == nil)
        #expect(
            program.thumbnail(
                of: Base64.text(of: Photo.jpeg(64, 64)) + Array(repeating: UInt8(ascii: "A"), count: 12_000_000)) == nil
        )
    }
}
