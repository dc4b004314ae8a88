import Foundation
import JunctionProtocol
import JunctionServer
import JunctionTesting
import Testing

@testable import JunctionDaemon

@Suite struct AccountDirectoryTests {
    private let accounts = AccountDirectory(
        user: { ["kiosk": 1_000][$0] },
        group: { ["junction": 900][$0] }
    )

    @Test func `access entries become rules with numeric ids in the same order`() throws {
        var configuration = Configuration()
        configuration.access = [
            AccessEntry(allow: [.status], unit: "a.service", user: "kiosk", group: "junction"),
            AccessEntry(allow: [.manage], user: "65533"),
            AccessEntry(allow: [.token]),
        ]

        let (rules, notes) = try configuration.rules(by: accounts)

        #expect(
            rules == [
                AccessRule(allow: [.status], unit: "a.service", user: 1_000, group: 900),
                AccessRule(allow: [.manage], user: 65_533),
                AccessRule(allow: [.token]),
            ]
        )
        #expect(notes.isEmpty)
    }

    @Test func `an entry for an unknown account stays in the list and matches no caller`() throws {
        var configuration = Configuration()
        configuration.access = [
            AccessEntry(allow: [.manage], user: "nobody-here"),
            AccessEntry(allow: [.manage], group: "kiosk"),
            AccessEntry(allow: [.manage], user: "4294967296"),
            AccessEntry(allow: [.status], user: "kiosk"),
        ]

        let (rules, notes) = try configuration.rules(by: accounts)

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

    @Test(arguments: ["+5", "-0", "005", "00", "4294967295", "5 "])
    func `a text that is no id in plain digits is a name`(text: String) throws {
        #expect(try accounts.user(text) == nil)
        #expect(try accounts.group(text) == nil)
        #expect(try accounts.user("0") == 0)
        #expect(try accounts.group("4294967294") == 4_294_967_294)
    }

    @Test func `an entry for the id of unmapped users or groups is reported`() throws {
        var configuration = Configuration()
        configuration.access = [
            AccessEntry(allow: [.token], user: "65534"), AccessEntry(allow: [.token], group: "65534"),
        ]

        let (rules, notes) = try configuration.rules(by: accounts)

        #expect(rules.map(\.matchesNobody) == [false, false])
        #expect(notes.map { $0.prefix(26) } == ["access[0] allows nothing: ", "access[1] allows nothing: "])
    }

    @Test func `a failed look-up makes no policy, because the entry may deny`() {
        var configuration = Configuration()
        configuration.access = [AccessEntry(allow: [.status]), AccessEntry(allow: [], user: "guest")]
        let down = AccountDirectory(
            user: { (_) throws(AccountDirectory.LookupFailed) in
                throw AccountDirectory.LookupFailed("Connection refused")
            },
            group: { _ in nil }
        )

        let error = #expect(throws: UndecidedAccess.self) { try configuration.rules(by: down) }

        #expect(error?.entry == "access[1]")
        #expect(error?.description.contains("could not be looked up (Connection refused)") == true)
    }

    @Test func `a known account that is not found any more counts as a failed look-up`() throws {
        var configuration = Configuration()
        configuration.access = [
            AccessEntry(allow: [], user: "kiosk"), AccessEntry(allow: [], group: "junction"),
            AccessEntry(allow: [.status], user: "never"), AccessEntry(allow: [.token], user: "65533"),
        ]
        let known = configuration.accounts(foundFor: try configuration.rules(by: accounts).rules)
        let oneIsGone = AccountDirectory(user: { _ in nil }, group: { _ in 900 })
        let otherIsGone = AccountDirectory(user: { ["kiosk": 1_000][$0] }, group: { _ in nil })

        let (rules, notes) = try configuration.rules(by: accounts.requiringKnown(on: known))
        #expect(rules.map(\.matchesNobody) == [false, false, true, false])
        #expect(notes.count == 1)
        let first = #expect(throws: UndecidedAccess.self) {
            try configuration.rules(by: oneIsGone.requiringKnown(on: known))
        }
        #expect(first?.entry == "access[0]")
        #expect(first?.description.contains("user \"kiosk\" was found when the rules in force were made") == true)
        let second = #expect(throws: UndecidedAccess.self) {
            try configuration.rules(by: otherIsGone.requiringKnown(on: known))
        }
        #expect(second?.entry == "access[1]")
    }

    /// glibc returns the result of the last service, which is "no such user" here.
    @Test(arguments: ["passwd: hesiod files", "# accounts\npasswd:hesiod [NOTFOUND=continue] files # last\n"])
    func `an unreachable name service fails the look-up although a later service finds no account`(list: String) throws
    {
        let accounts = AccountDirectory(nameServices: try listing(list))

        #expect(throws: AccountDirectory.LookupFailed.self) { try accounts.user("no-such-user") }
        #expect(try accounts.user("root") == 0)
    }

    /// The services that a strict look-up sets apply to the whole process.
    @Test func `concurrent look-ups do not affect each other`() async throws {
        let accounts = AccountDirectory(nameServices: try listing("passwd: hesiod files"))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    if number.isMultiple(of: 2) {
                        #expect(throws: AccountDirectory.LookupFailed.self) { try accounts.user("no-such-user") }
                    } else {
                        #expect(throws: Never.self) { try accounts.user("root") }
                    }
                }
            }
        }
    }

    @Test(arguments: ["passwd: files", "passwd:\tfiles [NOTFOUND=return] hesiod # files\n", "group: hesiod\n", ""])
    func `an account that no service has does not exist`(list: String) throws {
        #expect(try AccountDirectory(nameServices: try listing(list)).user("no-such-user") == nil)
    }

    @Test func `an invalid list of services fails the look-up`() throws {
        let accounts = AccountDirectory(nameServices: try listing("passwd: files ["))

        #expect(throws: AccountDirectory.LookupFailed.self) { try accounts.user("no-such-user") }
    }

    private let folder = TemporaryFolder()

    /// Writes a file like `nsswitch.conf`.
    private func listing(_ text: String) throws -> String {
        try folder.write(text, to: "nsswitch.conf")
    }

    @Test func `root is found on this machine and unknown names are not`() throws {
        #expect(try AccountDirectory.system.user("root") == 0)
        #expect(try AccountDirectory.system.group("root") == 0)
        #expect(try AccountDirectory.system.user("no such user") == nil)
        #expect(try AccountDirectory.system.group("no such group") == nil)
    }
}

extension Configuration {
    /// Returns the rules of all entries, and notes that name an entry `access[0]`.
    fileprivate func rules(
        by accounts: AccountDirectory
    ) throws(UndecidedAccess) -> (rules: [AccessRule], notes: [String]) {
        try accessRules(by: accounts, naming: access.indices.map { "access[\($0)]" })
    }
}
