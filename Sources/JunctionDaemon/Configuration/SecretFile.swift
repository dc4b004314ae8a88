import Glibc
import JunctionProviders
import JunctionSession

/// A file with a secret that the configuration names, and its permissions.
///
/// If the service manager allocates the daemon's user at each start (`DynamicUser=`), an administrator cannot give such
/// a file to that user. The daemon can then read the file only if every user can. A credential is better: the service
/// manager reads it, and only the service sees it.
struct SecretFile: Equatable, Sendable {
    /// The setting that names it, such as `social.apiKeyFile`.
    var setting: String
    var path: String
    /// The name of the service manager's credential with the same secret.
    var credential: String

    /// Returns the files that the provider's table names.
    static func all(in configuration: Configuration) -> [SecretFile] {
        let name = configuration.provider
        let values = configuration.providerValues[name.rawValue] ?? [:]
        return name.definition.settings.compactMap { setting in
            guard case .secretFile(let credential) = setting.kind, let path = values[setting.key]?.text else {
                return nil
            }
            return SecretFile(setting: "\(name.rawValue).\(setting.key)", path: path, credential: credential)
        }
    }

    /// The finding if other users than the owner can read the file now; nil if none can. It does not prevent a start.
    var finding: ProbeFinding? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let isOpenToAll = status.st_mode & S_IROTH != 0
        let isOpenToGroup = status.st_mode & S_IRGRP != 0 && status.st_gid != 0
        guard isOpenToAll || isOpenToGroup else { return nil }
        let isReadByAll = isOpenToAll && isReachableByAll
        return ProbeFinding(
            name: "secret file",
            verdict: isReadByAll ? .problem : .note,
            detail: "\(setting): "
                + (isReadByAll
                    ? "every user of this machine can read \(path)."
                    : "more users than its owner may read \(path)."),
            remedy: """
                Pass it as a credential: LoadCredential=\(credential):\(path) in a drop-in of the unit, or encrypted, by \
                systemd-creds encrypt --name=\(credential); then remove \(setting), and chmod 600 the file.
                """
        )
    }

    /// The finding in one line.
    var note: String? {
        finding.map { [$0.detail, $0.remedy].compactMap(\.self).joined(separator: " ") }
    }

    /// Whether every user can pass all folders of the path.
    private var isReachableByAll: Bool {
        var folder = path[...]
        while let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
            folder = folder[..<slash]
            var status = stat()
            guard stat(String(folder), &status) == 0, status.st_mode & S_IXOTH != 0 else { return false }
        }
        return true
    }
}
