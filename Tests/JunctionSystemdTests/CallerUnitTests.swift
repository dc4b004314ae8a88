import Glibc
import Testing

@testable import JunctionSystemd

@Suite struct CallerUnitTests {
    @Test(arguments: [0, -1, Int32.min, Int32.max])
    func `the unit of a process that does not exist is unknown`(process: Int32) {
        #expect(throws: UnitUnknown.self) { try CallerUnit.name(ofProcess: process) }
    }

    @Test(arguments: [
        ("/", true), ("/system.slice/a.service", true), ("/..a.scope", true),
        ("/..", false), ("/../a.service", false), ("/../../user.slice", false),
    ])
    func `a control group outside of the daemon's namespace is not visible`(path: String, isVisible: Bool) {
        #expect(CallerUnit.isVisible(path) == isVisible)
    }

    @Test func `a unit has its full name or is nil`() throws {
        // The result depends on where the tests run: on a desktop in a scope, in a container often in none.
        let unit = try CallerUnit.name(ofProcess: getpid())

        #expect(unit.map { $0.hasSuffix(".service") || $0.hasSuffix(".scope") } ?? true)
    }
}
