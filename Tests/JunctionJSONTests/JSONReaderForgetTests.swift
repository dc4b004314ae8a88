import JunctionJSON
import Testing

struct JSONReaderForgetTests {
    @Test func `a value that still exists survives forget, and the reader reads the next text`() throws {
        let reader = JSONReader()
        let held = try reader.read(Array(#"{"token":"first"}"#.utf8))
        reader.forget()
        #expect(held["token"]?.string == "first")
        let next = try reader.read(Array(#"{"token":"second"}"#.utf8))
        #expect(next["token"]?.string == "second")
        #expect(held["token"]?.string == "first")
    }
}
