import JunctionDaemon
import JunctionProtocol
import JunctionServer
import Testing

@Suite struct AccountDirectoryTests {
    private let accounts = AccountDirectory(
        user: { ["kiosk": 1_000][$0] },
        group: { ["junction": 900][$0] }
    )

    @Test func `entries become rules with the kernel's numbers, in their order`() {
        var configuration = Configuration()
        configuration.access = [
            AccessEntry(allow: [.status], unit: "a.service", user: "kiosk", group: "junction"),
            AccessEntry(allow: [.manage], user: "65534"),
            AccessEntry(allow: [.token]),
        ]

        let (rules, notes) = configuration.accessRules(by: accounts)

        #expect(
            rules == [
                AccessRule(allow: [.status], unit: "a.service", user: 1_000, group: 900),
                AccessRule(allow: [.manage], user: 65_534),
                AccessRule(allow: [.token]),
            ]
        )
        #expect(notes.isEmpty)
    }

    @Test func `an entry for a user or group that does not exist is left out, never widened`() {
        var configuration = Configuration()
        configuration.access = [
            AccessEntry(allow: [.manage], user: "nobody-here"),
            AccessEntry(allow: [.manage], group: "kiosk"),
            AccessEntry(allow: [.manage], user: "4294967296"),
            AccessEntry(allow: [.status], user: "kiosk"),
        ]

        let (rules, notes) = configuration.accessRules(by: accounts)

        #expect(rules == [AccessRule(allow: [.status], user: 1_000)])
        #expect(notes.count == 3)
        #expect(notes.first?.hasPrefix("access[0]") == true)
    }

    @Test func `the accounts of this machine are looked up`() {
        #expect(AccountDirectory.system.user("root") == 0)
        #expect(AccountDirectory.system.group("root") == 0)
        #expect(AccountDirectory.system.user("no such user") == nil)
        #expect(AccountDirectory.system.group("no such group") == nil)
    }
}
