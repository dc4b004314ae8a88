import Glibc
import JunctionSystemd
import Testing

@Suite struct CallerUnitTests {
    @Test(arguments: [0, -1, Int32.min, Int32.max])
    func `a process that does not exist has no unit`(process: Int32) {
        #expect(CallerUnit.name(ofProcess: process) == nil)
    }

    @Test func `a unit is named in full or not at all`() {
        // Where the tests run decides which: on a desktop in a scope, in a container often in none.
        let unit = CallerUnit.name(ofProcess: getpid())

        #expect(unit.map { $0.hasSuffix(".service") || $0.hasSuffix(".scope") } ?? true)
    }
}
