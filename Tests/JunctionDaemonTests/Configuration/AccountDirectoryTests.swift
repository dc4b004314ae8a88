import JunctionDaemon
import JunctionProtocol
import JunctionServer
import Testing

@Suite struct AccountDirectoryTests {
    private let accounts = AccountDirectory(
        user: { ["kiosk": 1_000][$0] },
        group: { ["junction": 900][$0] }
    )

    @Test func `entries become rules with the kernel's numbers, in their order`() throws {
        var configuration = Configuration()
        configuration.access = [
            AccessEntry(allow: [.status], unit: "a.service", user: "kiosk", group: "junction"),
            AccessEntry(allow: [.manage], user: "65534"),
            AccessEntry(allow: [.token]),
        ]

        let (rules, notes) = try configuration.accessRules(by: accounts)

        #expect(
            rules == [
                AccessRule(allow: [.status], unit: "a.service", user: 1_000, group: 900),
                AccessRule(allow: [.manage], user: 65_534),
                AccessRule(allow: [.token]),
            ]
        )
        #expect(notes.isEmpty)
    }

    @Test func `an entry for somebody who does not exist stays in its place and matches nobody`() throws {
        var configuration = Configuration()
        configuration.access = [
            AccessEntry(allow: [.manage], user: "nobody-here"),
            AccessEntry(allow: [.manage], group: "kiosk"),
            AccessEntry(allow: [.manage], user: "4294967296"),
            AccessEntry(allow: [.status], user: "kiosk"),
        ]

        let (rules, notes) = try configuration.accessRules(by: accounts)

        #expect(rules.map(\.matchesNobody) == [true, true, true, false])
        #expect(rules.last == AccessRule(allow: [.status], user: 1_000))
        #expect(
            notes == [
                "access[0] matches nobody: there is no user \"nobody-here\" on this machine",
                "access[1] matches nobody: there is no group \"kiosk\" on this machine",
                "access[2] matches nobody: there is no user \"4294967296\" on this machine",
            ]
        )
    }

    @Test func `a look-up that fails puts no policy in force: the entry may be one that denies`() {
        var configuration = Configuration()
        configuration.access = [AccessEntry(allow: [.status]), AccessEntry(allow: [], user: "guest")]
        let down = AccountDirectory(
            user: { (_) throws(AccountDirectory.LookupFailed) in
                throw AccountDirectory.LookupFailed("Connection refused")
            },
            group: { _ in nil }
        )

        let error = #expect(throws: ConfigurationError.self) { try configuration.accessRules(by: down) }

        #expect(error?.key == "access[1]")
        #expect(error?.description.contains("could not be looked up (Connection refused)") == true)
    }

    @Test func `the accounts of this machine are looked up`() throws {
        #expect(try AccountDirectory.system.user("root") == 0)
        #expect(try AccountDirectory.system.group("root") == 0)
        #expect(try AccountDirectory.system.user("no such user") == nil)
        #expect(try AccountDirectory.system.group("no such group") == nil)
    }
}
