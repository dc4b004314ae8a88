import JunctionSecret
import Testing

@testable import junctiond_courier

/// The bytes of a request's body are passed on in order, for any buffer size.
struct OutgoingBodyTests {
    @Test(arguments: [1, 2, 3, 7, 100])
    func `every byte is passed on once`(room: Int) {
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

    @Test func `bytes after the end are ignored`() {
        var body = OutgoingBody()
        body.end()
        body.append(SharedSecret(text: "late"))
        #expect(body.isComplete)
    }
}
