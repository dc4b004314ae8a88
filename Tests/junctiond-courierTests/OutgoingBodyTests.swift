import JunctionSecret
import Testing

@testable import junctiond_courier

/// What has arrived of a request's body goes on in order, however much space there is.
struct OutgoingBodyTests {
    @Test(arguments: [1, 2, 3, 7, 100])
    func `every byte goes on once`(room: Int) {
        var body = OutgoingBody()
        for part in ["one", "", "two", "three"] { body.append(SharedSecret(text: part)) }
        var gone: [UInt8] = []
        var space = [UInt8](repeating: 0, count: room)
        while true {
            let count = space.withUnsafeMutableBytes { body.take(into: $0) }
            guard count > 0 else { break }
            gone += space.prefix(count)
        }
        #expect(String(decoding: gone, as: UTF8.self) == "onetwothree")
        #expect(!body.isComplete)
        body.end()
        #expect(body.isComplete)
    }

    @Test func `nothing is added after its end`() {
        var body = OutgoingBody()
        body.end()
        body.append(SharedSecret(text: "late"))
        #expect(body.isComplete)
    }
}
