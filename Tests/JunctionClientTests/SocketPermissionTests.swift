import Foundation
import JunctionTesting
import Testing

@testable import JunctionClient

/// A socket that this user must not open: the advice names its group, and how the user joins that group.
struct SocketPermissionTests {
    private let accounts = AccountFiles(
        users: "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/:/bin/sh\n\nbroken\nben:x:1001:994::/:/bin/sh\n",
        groups: "root:x:0:\njunction:x:994:anna,carl\nhealth:x:995:carl\nanna:x:1000:\nbroken:x:y:\n"
    )
    private let permission = SocketPermission(group: 994, owner: 0)

    @Test func `a member whose login is older is advised to log in again or to use newgrp`() {
        let remedy = permission.remedy(for: Login(user: 1000, groups: [1000]), accounts)

        #expect(
            remedy
                == "the group 'junction' may, and you are in it, but were not when this login began: log in again, or run "
                + "'newgrp junction'"
        )
        // The user is also a member through the primary group.
        #expect(permission.remedy(for: Login(user: 1001, groups: [5]), accounts) == remedy)
    }

    @Test func `a user who is no member is advised which group to join`() {
        let remedy = SocketPermission(group: 995, owner: 0).remedy(for: Login(user: 1000, groups: [1000]), accounts)

        #expect(
            remedy
                == "the group 'health' may: have yourself added ('sudo usermod -aG health anna'), then log in again or "
                + "run 'newgrp health'"
        )
    }

    @Test func `a system service is advised which line to add to its unit`() {
        let remedy = permission.remedy(for: Login(user: 1000, groups: [1000]), in: "sync.service", accounts)

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
    func `the service of a process is read from its control group`(groups: String, service: String?) {
        #expect(SystemService.name(in: groups) == service)
    }

    @Test func `a user or group that is not listed is shown by its number`() {
        let remedy = SocketPermission(group: 77, owner: 0).remedy(for: Login(user: 78, groups: []), accounts)

        #expect(remedy.contains("usermod -aG 77 78"))
    }

    @Test func `in a container without the socket's group, the advice is to start the container with it`() {
        let socket = SocketPermission(group: 65_534, owner: 65_534)

        for groups: Set<UInt32> in [[0], [0, 65_534]] {
            let remedy = socket.remedy(for: Login(user: 0, groups: groups), in: "sync.service", accounts)
            #expect(remedy.hasPrefix("the group that may has no number in the user namespace of this process: "))
            #expect(remedy.contains("--group-add keep-groups"))
        }
    }

    @Test func `the advice for a socket without a group names the owner`() {
        for socket in [SocketPermission(group: nil, owner: 1000), SocketPermission(group: 5, owner: 1000)] {
            #expect(socket.remedy(for: Login(user: 1001, groups: [5]), accounts).hasPrefix("only 'anna' and root may"))
        }
    }

    @Test func `the advice for a socket of root alone names root`() {
        let remedy = SocketPermission(group: nil, owner: 0).remedy(for: Login(user: 1000, groups: [1000]), accounts)

        #expect(remedy.hasPrefix("only root may: ask as root, or "))
    }

    @Test func `groups that were added after the login began are reported as missing`() {
        #expect(Login(user: 1000, groups: [1000]).missing(in: accounts).map(\.name) == ["junction"])
        #expect(Login(user: 1000, groups: [1000, 994]).missing(in: accounts).isEmpty)
        #expect(Login(user: 4711, groups: []).missing(in: accounts).isEmpty)
    }

    @Test func `the group is that of the socket, and a missing socket has no advice`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("", to: "s")

        chmod(file, 0o660)
        #expect(SocketPermission(on: file)?.group == getegid())
        chmod(file, 0o600)
        #expect(SocketPermission(on: file)?.group == nil)
        #expect(SocketPermission(on: file + "x") == nil)
    }
}
