import Glibc

/// Whether something starts a service after a reboot, as far as the folders of the service manager say: `systemctl enable` makes
/// links there, and asking it takes a bus that the daemon has no business with.
package struct UnitEnablement: Equatable, Sendable {
    /// The unit, such as `junctiond.service`.
    package var service: String
    /// The service starts at boot.
    package var isServiceEnabled: Bool
    /// Its socket does, so that whoever connects starts the service.
    package var isSocketEnabled: Bool

    package init(service: String, isServiceEnabled: Bool, isSocketEnabled: Bool) {
        self.service = service
        self.isServiceEnabled = isServiceEnabled
        self.isSocketEnabled = isSocketEnabled
    }

    /// Where system units and the links to them are (systemd.unit(5)).
    package static let systemFolders = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]

    /// Looks for a service; nothing where it is no unit of these folders, such as one that `systemd-run` made.
    package init?(of service: String, in folders: [String] = systemFolders) {
        guard service.hasSuffix(".service"), folders.contains(where: { access("\($0)/\(service)", F_OK) == 0 }) else {
            return nil
        }
        let socket = service.dropLast(".service".count) + ".socket"
        self.init(
            service: service,
            isServiceEnabled: Self.isWanted(service, in: folders),
            isSocketEnabled: Self.isWanted(String(socket), in: folders)
        )
    }

    /// Whether another unit wants or requires it.
    private static func isWanted(_ unit: String, in folders: [String]) -> Bool {
        folders.contains { folder in
            names(in: folder).contains { name in
                guard name.hasSuffix(".wants") || name.hasSuffix(".requires") else { return false }
                var status = stat()
                return lstat("\(folder)/\(name)/\(unit)", &status) == 0
            }
        }
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
            )
        }
        return names
    }
}
