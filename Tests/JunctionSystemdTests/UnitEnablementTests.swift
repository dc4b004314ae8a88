import Foundation
import JunctionTesting
import Testing

@testable import JunctionSystemd

/// Whether a unit starts at boot, according to the links of `systemctl enable`.
struct UnitEnablementTests {
    private let folder = TemporaryFolder()

    private func make(_ path: String, link: Bool = false) throws {
        try folder.makeFolder((path as NSString).deletingLastPathComponent)
        // The target of a link does not matter: the unit may be in another directory.
        guard link else { return _ = try folder.write("", to: path) }
        try #require(symlink("/no/such", folder.path + "/" + path) == 0)
    }

    @Test func `a service and its socket are enabled by a link in a folder of another unit`() throws {
        try make("lib/keeper.service")
        let folders = [folder.path + "/etc", folder.path + "/lib"]

        #expect(
            UnitEnablement(of: "keeper.service", in: folders)
                == UnitEnablement(service: "keeper.service", isServiceEnabled: false, isSocketEnabled: false)
        )
        try make("etc/sockets.target.wants/keeper.socket", link: true)
        #expect(UnitEnablement(of: "keeper.service", in: folders)?.isSocketEnabled == true)
        #expect(UnitEnablement(of: "keeper.service", in: folders)?.isServiceEnabled == false)
        try make("etc/multi-user.target.requires/keeper.service", link: true)
        #expect(UnitEnablement(of: "keeper.service", in: folders)?.isServiceEnabled == true)
    }

    @Test func `an instance of a template is a unit of the system`() throws {
        try make("lib/keeper@.service")
        try make("etc/sockets.target.wants/keeper@work.socket", link: true)

        let found = UnitEnablement(of: "keeper@work.service", in: [folder.path + "/etc", folder.path + "/lib"])

        #expect(found?.service == "keeper@work.service")
        #expect(found?.isSocketEnabled == true)
        #expect(found?.isServiceEnabled == false)
    }

    @Test func `a service that is not a unit of the system is nil`() {
        #expect(UnitEnablement(of: "keeper.service", in: [folder.path]) == nil)
        #expect(UnitEnablement(of: "session-1.scope", in: [folder.path]) == nil)
    }
}
