import JunctionText
import Testing

@Suite struct InstanceNameTests {
    @Test(arguments: ["work", "a", "A-b_c.9", "-x", "a..", String(repeating: "x", count: 64)])
    func `a name of letters, digits, dashes, underscores and dots is allowed`(name: String) {
        #expect(InstanceName(name)?.description == name)
        #expect(InstanceName(name)?.suffix == "@" + name)
    }

    @Test(arguments: [
        "", ".", "..", ".a", "a/b", "a b", "a@b", "ä", "a\u{0}", "a\n", String(repeating: "x", count: 65),
    ])
    func `any other name is refused`(name: String) {
        #expect(InstanceName(name) == nil)
    }

    @Test func `the plain installation is named junctiond and has no suffix`() {
        #expect(InstanceName("junctiond") == .plain)
        #expect(InstanceName.plain.suffix.isEmpty)
    }
}
