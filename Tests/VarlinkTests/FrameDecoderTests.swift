import BrokerVarlink
import Testing

@Suite("Decoding frames from a stream")
struct FrameDecoderTests {
    @Test("Frames are the same however the stream is split", arguments: 1...12)
    func pieces(size: Int) throws {
        let stream = Array("one\0two\0\0three\0".utf8)
        var decoder = FrameDecoder(maximumFrameSize: 5)
        var frames: [String] = []
        var rest = stream[...]
        while !rest.isEmpty {
            decoder.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            while let frame = try decoder.nextFrame() { frames.append(String(decoding: frame, as: UTF8.self)) }
        }
        #expect(frames == ["one", "two", "", "three"])
        #expect(decoder.bufferedBytes == 0)
    }

    @Test("An incomplete frame is not returned")
    func unfinished() throws {
        var decoder = FrameDecoder(maximumFrameSize: 10)
        decoder.append(Array("abc".utf8))
        #expect(try decoder.nextFrame() == nil)
        let isWhole = decoder.hasFrame()
        #expect(!isWhole)
        #expect(decoder.bufferedBytes == 3)
        decoder.append([0])
        let isWholeNow = decoder.hasFrame()
        #expect(isWholeNow)
        #expect(try decoder.nextFrame() == Array("abc".utf8))
    }

    @Test("A frame may be as long as the limit and no longer, complete or not")
    func limit() throws {
        var decoder = FrameDecoder(maximumFrameSize: 4)
        decoder.append(Array("1234".utf8))
        #expect(try decoder.nextFrame() == nil)
        decoder.append([0])
        #expect(try decoder.nextFrame() == Array("1234".utf8))

        var unfinished = FrameDecoder(maximumFrameSize: 4)
        unfinished.append(Array("12345".utf8))
        #expect(throws: FrameError.tooLong) { try unfinished.nextFrame() }

        var finished = FrameDecoder(maximumFrameSize: 4)
        finished.append(Array("12345\0".utf8))
        #expect(throws: FrameError.tooLong) { try finished.nextFrame() }
    }

    @Test("Frames before one that is too long are still returned")
    func limitBehindFrames() throws {
        var decoder = FrameDecoder(maximumFrameSize: 4)
        decoder.append(Array("ab\0cd\0toolong".utf8))
        #expect(try decoder.nextFrame() == Array("ab".utf8))
        #expect(try decoder.nextFrame() == Array("cd".utf8))
        #expect(throws: FrameError.tooLong) { try decoder.nextFrame() }
    }

    @Test("A long frame that arrives byte by byte takes linear time")
    func byteByByte() throws {
        let size = 2_000_000
        var decoder = FrameDecoder(maximumFrameSize: size)
        let clock = ContinuousClock()
        var early = 0
        let time = try clock.measure {
            for _ in 0..<size {
                decoder.append([UInt8(ascii: "x")])
                if try decoder.nextFrame() != nil { early += 1 }
            }
        }
        #expect(early == 0)
        decoder.append([0])
        #expect(try decoder.nextFrame()?.count == size)
        // Scanning all bytes again for each new one would take hours.
        #expect(time < .seconds(60))
    }

    @Test("Many small frames in one piece take linear time")
    func manyFrames() throws {
        var decoder = FrameDecoder(maximumFrameSize: 10)
        decoder.append([UInt8](repeating: 0, count: 1_000_000))
        var count = 0
        while try decoder.nextFrame() != nil { count += 1 }
        #expect(count == 1_000_000)
    }
}
