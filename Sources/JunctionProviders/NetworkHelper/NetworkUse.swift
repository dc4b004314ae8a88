import JunctionCourier
import JunctionSecret
import Synchronization

/// How the network is to be used: whom to trust, as whom to appear, and through which proxy.
///
/// The files behind it are looked at when there is something to send, so that a certificate which was renewed counts from
/// the next request on. One that cannot be read at that moment, because it is just being replaced, counts as it was.
package final class NetworkUse: Sendable {
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
    ///   - caFile: certificates (PEM) that are trusted beside those of the system (`tls.caFile`).
    ///   - clientCertificate: the files (PEM) with our own certificate and its key, where a server asks for one. Without
    ///     a file for the key it is missing, which is said when everything else is in order.
    ///   - proxy: the URL of the proxy, with its credentials if it has any.
    ///   - noProxy: what is reached without it, as `NO_PROXY` has it.
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

    /// The network as it is: the system's authorities, no proxy.
    package init() {
        known = Mutex(Known(files: Files(), settings: NetworkSettings()))
    }

    /// The settings as the files have them now, and how often they have changed.
    var present: (settings: NetworkSettings, edition: Int) {
        known.withLock { known in
            known.look()
            return (known.settings, known.edition)
        }
    }

    /// What this courier has to be told before it carries anything more, if anything.
    func news(for courier: CourierConnection) -> NetworkSettings? {
        let (settings, edition) = present
        guard courier.settings != edition else { return nil }
        courier.settings = edition
        return settings
    }
}

extension NetworkUse.Known {
    fileprivate mutating func look() {
        let trust = files.trust?.look() ?? false
        // One without the other would fit nothing: both are taken as they are together.
        let certificate = files.clientCertificate?.look() ?? false
        let key = files.clientKey?.look() ?? false
        guard trust || certificate || key else { return }
        settings.trust = files.trust?.content ?? .empty
        settings.clientCertificate = files.clientCertificate?.content ?? .empty
        settings.clientKey = files.clientKey?.content ?? .empty
        edition += 1
    }
}
