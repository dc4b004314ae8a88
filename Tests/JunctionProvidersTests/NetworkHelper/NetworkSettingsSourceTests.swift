import JunctionNetworkHelper
import JunctionSecret
import Testing

@testable import JunctionProviders

struct NetworkSettingsSourceTests {
    private let folder = PemFolder()

    @Test func `the default settings are empty`() throws {
        let settings = NetworkSettingsSource().current.settings

        #expect(
            [settings.trust, settings.clientCertificate, settings.clientKey, settings.proxy].allSatisfy {
                $0.count == 0
            }
        )
        #expect(settings.noProxy == "")
    }

    @Test func `the settings contain files, proxy and exceptions`() throws {
        let use = try NetworkSettingsSource(
            caFile: folder.put("authority", in: "ca.pem"),
            clientCertificate: (folder.put("device", in: "device.pem"), folder.putKey("device", in: "device.key")),
            proxy: ProxyAddress("kiosk:secret@proxy.example:3128"),
            noProxy: ["10.0.0.0/8", ".lan"]
        )
        let settings = use.current.settings

        #expect(settings.trust.text == PemFolder.certificate("authority"))
        #expect(settings.clientCertificate.text == PemFolder.certificate("device"))
        #expect(settings.clientKey.text == PemFolder.key("device"))
        #expect(settings.proxy.text == "http://kiosk:secret@proxy.example:3128")
        #expect(settings.noProxy == "10.0.0.0/8,.lan")
    }

    @Test func `a changed file makes a new edition, with certificate and key together`() throws {
        let use = try NetworkSettingsSource(
            caFile: folder.put("authority", in: "ca.pem"),
            clientCertificate: (folder.put("device", in: "device.pem"), folder.putKey("device", in: "device.key"))
        )
        let first = use.current.edition
        #expect(use.current.edition == first)

        folder.put("the next", in: "device.pem")
        folder.putKey("the next", in: "device.key")
        let second = use.current.edition
        #expect(second == first + 1)
        #expect(use.current.settings.clientCertificate.text == PemFolder.certificate("the next"))
        #expect(use.current.settings.clientKey.text == PemFolder.key("the next"))
        #expect(use.current.edition == second)

        folder.put("another authority", in: "ca.pem")
        #expect(use.current.edition == second + 1)
        #expect(use.current.settings.trust.text == PemFolder.certificate("another authority"))
    }

    @Test func `an error about a file names its setting`() throws {
        let (certificate, key) = (folder.put("device", in: "device.pem"), folder.putKey("device", in: "device.key"))
        let nothing = folder.path("nothing")

        #expect(complaint { try NetworkSettingsSource(caFile: nothing) }?.hasPrefix("tls.caFile: ") == true)
        #expect(
            complaint { try NetworkSettingsSource(clientCertificate: (nothing, key)) }?
                .hasPrefix("network.clientCertificateFile: ") == true
        )
        #expect(
            complaint { try NetworkSettingsSource(clientCertificate: (certificate, nothing)) }?
                .hasPrefix("network.clientKeyFile: ") == true
        )
        // Certificate and key are exchanged.
        #expect(
            complaint { try NetworkSettingsSource(clientCertificate: (key, certificate)) }?
                .hasPrefix("network.clientCertificateFile: ") == true
        )
    }

    private func complaint(_ body: () throws -> NetworkSettingsSource) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? ProviderConfigurationFault)?.message
        }
    }
}
