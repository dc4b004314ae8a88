import NIOSSL

/// The certificate authorities that are trusted beside those of the system.
package struct TrustAnchors: Sendable {
    let certificates: [NIOSSLCertificate]

    /// Those of the system, and no other.
    package static let system = TrustAnchors(certificates: [])

    /// Those of the system and those in a PEM file (`tls.caFile`).
    package init(caFile path: String) throws(ProviderConfigurationFault) {
        certificates = (try? NIOSSLCertificate.fromPEMFile(path)) ?? []
        guard !certificates.isEmpty else {
            throw ProviderConfigurationFault("\(path) cannot be read as certificates: expected a PEM file")
        }
    }

    private init(certificates: [NIOSSLCertificate]) {
        self.certificates = certificates
    }

    var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.additionalTrustRoots = [.certificates(certificates)]
        return configuration
    }
}
