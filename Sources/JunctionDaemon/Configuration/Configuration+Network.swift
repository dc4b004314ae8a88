import JunctionProviders
import JunctionText

extension Configuration {
    /// Returns the use of the network that the configuration and the environment describe. It reads the files that they
    /// name.
    ///
    /// - Parameters:
    ///   - credentials: the folder of the service manager's credentials.
    ///   - variables: the environment; an empty variable counts as absent.
    func networkSettings(credentials: String?, variables: [String: String]) throws(StartFailure)
        -> NetworkSettingsSource
    {
        var proxy = network.proxy
        if proxy == nil { proxy = try Self.proxy(in: variables) }
        let places = ["NO_PROXY", "no_proxy"].compactMap { variables[$0] }.first { !$0.isEmpty }
        do throws(ProviderConfigurationFault) {
            return try NetworkSettingsSource(
                caFile: tls.caFile,
                clientCertificate: network.clientCertificate(credentials: credentials),
                proxy: proxy,
                noProxy: network.noProxy ?? places.map(NoProxy.places(in:)) ?? []
            )
        } catch {
            throw StartFailure(error)
        }
    }

    /// Returns the proxy that other programs of this machine use, too (curl(1), "ENVIRONMENT").
    private static func proxy(in variables: [String: String]) throws(StartFailure) -> ProxyAddress? {
        for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            guard let text = variables[name], !text.isEmpty else { continue }
            do throws(ProviderConfigurationFault) {
                return try ProxyAddress(text)
            } catch {
                throw StartFailure(.configuration, "\(name): \(error.message)")
            }
        }
        return nil
    }
}

extension Configuration.Network {
    var limits: OutgoingHTTP.Limits {
        OutgoingHTTP.Limits(resolve: resolveTimeout, connect: connectTimeout, request: requestTimeout)
    }

    fileprivate func clientCertificate(
        credentials: String?
    ) throws(ProviderConfigurationFault) -> (certificateFile: String, keyFile: String?)? {
        guard let clientCertificateFile else {
            guard clientKeyFile == nil else {
                throw ProviderConfigurationFault("network.clientKeyFile: there is no network.clientCertificateFile")
            }
            return nil
        }
        return (clientCertificateFile, clientKeyFile ?? credentials.map { "\($0)/network.clientKey" })
    }
}

/// The hosts that are reached without the proxy, in the form of `NO_PROXY`.
enum NoProxy {
    /// Returns the entries of a list that commas or blanks separate.
    static func places(in text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map(String.init).filter(isPlace)
    }

    /// Whether the text can be a host name, a domain, an address or a network, or `*` for everything.
    static func isPlace(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255 && text.utf8.allSatisfy { $0.isVisibleASCII && $0 != 0x2C }
    }
}
