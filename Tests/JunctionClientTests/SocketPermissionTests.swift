import Foundation
import JunctionTesting
import Testing

@testable import JunctionClient

/// A socket that is not for this user: which group it is for, and how one gets into that.
struct SocketPermissionTests {
    private let accounts = AccountFiles(
        users: "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/:/bin/sh\n\nbroken\nben:x:1001:994::/:/bin/sh\n",
        groups: "root:x:0:\njunction:x:994:anna,carl\nhealth:x:995:carl\nanna:x:1000:\nbroken:x:y:\n"
    )
    private let door = SocketPermission(group: 994, owner: 0)

    @Test func `a member whose login is older is told to log in again, or to use newgrp`() {
        let remedy = door.remedy(for: Login(user: 1000, groups: [1000]), accounts)

        #expect(
            remedy
                == "the group 'junction' may, and you are in it, but were not when this login began: log in again, or run "
                + "'newgrp junction'"
        )
        // By the primary group, too.
        #expect(door.remedy(for: Login(user: 1001, groups: [5]), accounts) == remedy)
    }

    @Test func `whoever is no member is told which group, and how to get into it`() {
        let remedy = SocketPermission(group: 995, owner: 0).remedy(for: Login(user: 1000, groups: [1000]), accounts)

        #expect(
            remedy
                == "the group 'health' may: have yourself added ('sudo usermod -aG health anna'), then log in again or "
                + "run 'newgrp health'"
        )
    }

    @Test func `a system service is told the line of its unit, and nothing of a login`() {
        let remedy = door.remedy(for: Login(user: 1000, groups: [1000]), in: "sync.service", accounts)

        #expect(
            remedy
                == "the group 'junction' may: add 'SupplementaryGroups=junction' to [Service] of sync.service, then run "
                + "'systemctl daemon-reload' and restart it"
        )
    }

    @Test(
        arguments: [
            ("0::/system.slice/sync.service\n", "sync.service"),
            ("0::/system.slice/system-app.slice/app@1.service/worker\n", "app@1.service"),
            ("12:cpuset:/\n1:name=systemd:/system.slice/sync.service\n", "sync.service"),
            ("0::/user.slice/user-1000.slice/session-3.scope\n", nil),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n", nil), ("0::/\n", nil), ("", nil),
        ] as [(String, String?)]
    )
    func `the service of a process is in its control group`(groups: String, service: String?) {
        #expect(SystemService.name(in: groups) == service)
    }

    @Test func `who is not listed has a number`() {
        let remedy = SocketPermission(group: 77, owner: 0).remedy(for: Login(user: 78, groups: []), accounts)

        #expect(remedy.contains("usermod -aG 77 78"))
    }

    @Test func `a socket of its owner alone is not a matter of groups`() {
        for door in [SocketPermission(group: nil, owner: 1000), SocketPermission(group: 5, owner: 1000)] {
            #expect(door.remedy(for: Login(user: 1001, groups: [5]), accounts).hasPrefix("only 'anna' and root may"))
        }
    }

    @Test func `a socket of root's alone is root's`() {
        let remedy = SocketPermission(group: nil, owner: 0).remedy(for: Login(user: 1000, groups: [1000]), accounts)

        #expect(remedy.hasPrefix("only root may: ask as root, or "))
    }

    @Test func `groups that came after the login began are missing in it`() {
        #expect(Login(user: 1000, groups: [1000]).missing(in: accounts).map(\.name) == ["junction"])
        #expect(Login(user: 1000, groups: [1000, 994]).missing(in: accounts).isEmpty)
        #expect(Login(user: 4711, groups: []).missing(in: accounts).isEmpty)
    }

    @Test func `the group is that of the socket, and nothing is said of what is not there`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("", to: "s")

        chmod(file, 0o660)
        #expect(SocketPermission(on: file)?.group == getegid())
        chmod(file, 0o600)
        #expect(SocketPermission(on: file)?.group == nil)
        #expect(SocketPermission(on: file + "x") == nil)
    }
}
