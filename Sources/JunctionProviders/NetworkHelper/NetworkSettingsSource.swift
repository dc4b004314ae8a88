import JunctionNetworkHelper
import JunctionSecret
import Synchronization

/// The network settings: the trusted certificates, the client certificate, and the proxy.
///
/// The files are checked before each request, so a renewed certificate applies from the next request on. If a file
/// cannot be read at that moment, for example during its replacement, its previous content stays in use.
package final class NetworkSettingsSource: Sendable {
    fileprivate struct Files: Sendable {
        var trust: WatchedFile?
        var clientCertificate: WatchedFile?
        var clientKey: WatchedFile?
    }

    fileprivate struct Known {
        var files: Files
        var settings: NetworkSettings
        var edition = 0
    }

    private let known: Mutex<Known>

    /// - Parameters:
    ///   - caFile: certificates (PEM) that are trusted in addition to those of the system (`tls.caFile`).
    ///   - clientCertificate: the files (PEM) with the client certificate and its key, for servers that request one. If
    ///     the key file is missing, `init` throws after it has checked the other files.
    ///   - proxy: the URL of the proxy, with its credentials if it has any.
    ///   - noProxy: the hosts that are reached without the proxy, as in `NO_PROXY`.
    package init(
        caFile: String? = nil,
        clientCertificate: (certificateFile: String, keyFile: String?)? = nil,
        proxy: ProxyAddress? = nil,
        noProxy: [String] = []
    ) throws(ProviderConfigurationFault) {
        let files = Files(
            trust: try caFile.map { path throws(ProviderConfigurationFault) in
                try WatchedFile("tls.caFile", path, .certificates)
            },
            clientCertificate: try clientCertificate.map { pair throws(ProviderConfigurationFault) in
                try WatchedFile("network.clientCertificateFile", pair.certificateFile, .certificates)
            },
            clientKey: try clientCertificate.map { pair throws(ProviderConfigurationFault) in
                guard let keyFile = pair.keyFile else { throw Self.missingKey }
                return try WatchedFile("network.clientKeyFile", keyFile, .key)
            }
        )
        let settings = NetworkSettings(
            trust: files.trust?.content ?? .empty,
            clientCertificate: files.clientCertificate?.content ?? .empty,
            clientKey: files.clientKey?.content ?? .empty,
            proxy: proxy?.url ?? .empty,
            noProxy: noProxy.joined(separator: ",")
        )
        known = Mutex(Known(files: files, settings: settings))
    }

    private static let missingKey = ProviderConfigurationFault(
        "network.clientCertificateFile: its key is missing; expected network.clientKeyFile, or the credential "
            + "network.clientKey",
        missingCredential: "network.clientKey"
    )

    /// Makes the default settings: the system's certificates, no proxy.
    package init() {
        known = Mutex(Known(files: Files(), settings: NetworkSettings()))
    }

    /// The settings with the current content of the files, and the number of changes so far.
    var current: (settings: NetworkSettings, edition: Int) {
        known.withLock { known in
            known.readFiles()
            return (known.settings, known.edition)
        }
    }

    /// Returns the settings if this helper does not have the current ones.
    func changes(for helper: HelperConnection) -> NetworkSettings? {
        let (settings, edition) = current
        guard helper.settings != edition else { return nil }
        helper.settings = edition
        return settings
    }
}

extension NetworkSettingsSource.Known {
    fileprivate mutating func readFiles() {
        let trust = files.trust?.look() ?? false
        // The certificate and its key belong together, so both are read.
        let certificate = files.clientCertificate?.look() ?? false
        let key = files.clientKey?.look() ?? false
        guard trust || certificate || key else { return }
        settings.trust = files.trust?.content ?? .empty
        settings.clientCertificate = files.clientCertificate?.content ?? .empty
        settings.clientKey = files.clientKey?.content ?? .empty
        edition += 1
    }
}
