import Glibc
import JunctionSystemd
import Testing

@Suite struct CallerUnitTests {
    @Test(arguments: [0, -1, Int32.min, Int32.max])
    func `of a process that does not exist nothing is known, not even that it is in no unit`(process: Int32) {
        #expect(throws: UnitUnknown.self) { try CallerUnit.name(ofProcess: process) }
    }

    @Test func `a unit is named in full or not at all`() throws {
        // Where the tests run decides which: on a desktop in a scope, in a container often in none.
        let unit = try CallerUnit.name(ofProcess: getpid())

        #expect(unit.map { $0.hasSuffix(".service") || $0.hasSuffix(".scope") } ?? true)
    }
}
