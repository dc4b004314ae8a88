import Foundation
import Testing

@testable import JunctionSystemd

/// Whether a unit starts at boot, by the links that `systemctl enable` makes.
struct UnitEnablementTests {
    private let folder = NSTemporaryDirectory() + "units-\(UUID().uuidString)"

    private func make(_ path: String, link: Bool = false) throws {
        let place = URL(fileURLWithPath: folder + "/" + path)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        if link {
            // Where a link leads to does not matter: the unit may come from another folder.
            try FileManager.default.createSymbolicLink(atPath: place.path, withDestinationPath: "/no/such")
        } else {
            try Data().write(to: place)
        }
    }

    @Test func `a service and its socket are enabled by a link in a folder of another unit`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try make("lib/keeper.service")
        let folders = [folder + "/etc", folder + "/lib"]

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

    @Test func `of what is no unit of the system nothing is said`() {
        #expect(UnitEnablement(of: "keeper.service", in: [folder]) == nil)
        #expect(UnitEnablement(of: "session-1.scope", in: [folder]) == nil)
    }
}
