import FoundationEssentials
import Glibc
import SandboxCloud

/// The configuration file that the sandbox writes for a daemon, and its key file.
struct ConfigurationFile {
    /// An absolute path, because the daemon may start in another directory.
    let path: String

    private static let mark = "# Written by junction-sandbox"

    init(_ path: String) throws(StartFailure) {
        self.path = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        // Never overwrite the configuration of a real daemon.
        if let present = FileManager.default.contents(atPath: self.path),
            !present.isEmpty, !present.starts(with: Data(Self.mark.utf8))
        {
            throw StartFailure("\(path) is there already, and is not the sandbox's; say another file, or take it away")
        }
    }

    /// Writes the configuration that the function returns for the key file.
    func write(_ configuration: (_ keyFile: String) -> DaemonConfiguration?) throws(StartFailure) {
        let keyFile = path + ".api-key"
        guard let text = configuration(keyFile)?.toml else { return }
        try put(Self.mark + " at each start.\n" + text, to: path, mode: 0o644)
        if text.contains(keyFile) { try put("sandbox-api-key\n", to: keyFile, mode: 0o600) }
    }

    private func put(_ text: String, to path: String, mode: mode_t) throws(StartFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
        let bytes = Array(text.utf8)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw StartFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}
