import Glibc

/// Whether a service starts after a reboot, according to the directories of the service manager. `systemctl enable`
/// creates links there. Asking the service manager itself would need a bus connection, which the daemon does not have.
package struct UnitEnablement: Equatable, Sendable {
    /// The unit, such as `junctiond.service`.
    package var service: String
    package var isServiceEnabled: Bool
    /// Whether its socket starts at boot, so that a connecting program starts the service.
    package var isSocketEnabled: Bool

    package init(service: String, isServiceEnabled: Bool, isSocketEnabled: Bool) {
        self.service = service
        self.isServiceEnabled = isServiceEnabled
        self.isSocketEnabled = isSocketEnabled
    }

    /// The directories of system units and of the links to them (systemd.unit(5)).
    package static let systemFolders = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]

    /// Looks for a service; `nil` if these directories do not contain it, for example because `systemd-run` created it.
    package init?(of service: String, in folders: [String] = systemFolders) {
        // The unit of an instance is a file, or comes from the file of its template.
        let files = [service] + (service.firstIndex(of: "@").map { [service[...$0] + ".service"] } ?? [])
        let isInstalled = folders.contains { folder in files.contains { access("\(folder)/\($0)", F_OK) == 0 } }
        guard service.hasSuffix(".service"), isInstalled else { return nil }
        let socket = service.dropLast(".service".count) + ".socket"
        self.init(
            service: service,
            isServiceEnabled: Self.isWanted(service, in: folders),
            isSocketEnabled: Self.isWanted(String(socket), in: folders)
        )
    }

    /// Whether another unit wants or requires this unit.
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
