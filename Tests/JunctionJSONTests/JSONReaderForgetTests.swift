import JunctionJSON
import Testing

struct JSONReaderForgetTests {
    @Test func `what is still held outlives the reader's forgetting, and the reader goes on`() throws {
        var reader = JSONReader()
        let held = try reader.read(Array(#"{"token":"first"}"#.utf8))
        reader.forget()
        #expect(held["token"]?.string == "first")
        let next = try reader.read(Array(#"{"token":"second"}"#.utf8))
        #expect(next["token"]?.string == "second")
        #expect(held["token"]?.string == "first")
    }
}
