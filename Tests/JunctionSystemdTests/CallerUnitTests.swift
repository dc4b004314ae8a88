import Glibc
import JunctionSystemd
import Testing

@Suite struct CallerUnitTests {
    @Test(arguments: [0, -1, Int32.min, Int32.max])
    func `the unit of a process that does not exist is unknown`(process: Int32) {
        #expect(throws: UnitUnknown.self) { try CallerUnit.name(ofProcess: process) }
    }

    @Test func `a unit has its full name or is nil`() throws {
        // The result depends on where the tests run: on a desktop in a scope, in a container often in none.
        let unit = try CallerUnit.name(ofProcess: getpid())

        #expect(unit.map { $0.hasSuffix(".service") || $0.hasSuffix(".scope") } ?? true)
    }
}
