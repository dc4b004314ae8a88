import Glibc
import JunctionProviders
import JunctionSession

/// A file with a secret that the configuration names, and who else can read it.
///
/// Where the service manager makes up the daemon's user at each start (`DynamicUser=`), nobody can give such a file to that
/// user: it works only if everybody can read it. A credential is read by the service manager and seen by the service alone.
struct SecretFile: Equatable, Sendable {
    /// The setting that names it, such as `social.apiKeyFile`.
    var setting: String
    var path: String
    /// What the service manager's credential with the same secret is called.
    var credential: String

    /// Those that the provider's table names.
    static func all(in configuration: Configuration) -> [SecretFile] {
        let name = configuration.provider
        let values = configuration.vendors[name.rawValue] ?? [:]
        return name.vendor.settings.compactMap { setting in
            guard case .secretFile(let credential) = setting.kind, let path = values[setting.key]?.text else {
                return nil
            }
            return SecretFile(setting: "\(name.rawValue).\(setting.key)", path: path, credential: credential)
        }
    }

    /// Who can read it besides its owner, as it is now; nothing when nobody can. It is no reason not to start.
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

    /// The same in one line.
    var note: String? {
        finding.map { [$0.detail, $0.remedy].compactMap(\.self).joined(separator: " ") }
    }

    /// Whether every folder on the way lets everybody pass.
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
