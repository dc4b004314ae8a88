import Foundation
import JunctionNetworkHelper
import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionDaemon
@testable import JunctionProviders

/// The table `[network]`, and the environment for settings that it does not have.
@Suite struct NetworkTests {
    @Test func `every key is read`() throws {
        let network = try settings(
            """
            [network]
            proxy = "http://kiosk:secret@proxy.example:3128"
            noProxy = ["10.0.0.0/8", ".lan", "*"]
            resolveTimeout = 1
            connectTimeout = 300
            requestTimeout = 7
            clientCertificateFile = "/etc/device.pem"
            clientKeyFile = "/etc/device.key"
            """
        ).network

        #expect(try network.proxy == ProxyAddress("http://kiosk:secret@proxy.example:3128"))
        #expect(network.noProxy == ["10.0.0.0/8", ".lan", "*"])
        #expect(network.limits.resolve == .seconds(1))
        #expect(network.limits.connect == .seconds(300))
        #expect(network.limits.request == .seconds(7))
        #expect(network.clientCertificateFile == "/etc/device.pem")
        #expect(network.clientKeyFile == "/etc/device.key")
    }

    @Test func `the defaults are ten seconds for each step and no proxy`() throws {
        let configuration = try settings("")

        #expect(configuration.network.limits == OutgoingHTTP.Limits())
        #expect(configuration.network.limits.resolve == .seconds(10))
        #expect(try use(configuration).proxy == "")
    }

    @Test(
        arguments: [
            ("proxy = 5", "network.proxy"),
            ("proxy = \"ftp://hunter2@p:1\"", "expected http://[USER:PASSWORD@]HOST:PORT"),
            ("proxy = [\"http://hunter2@p:1\"]", "network.proxy"),
            ("proxy = \"http://hunter2@p:1/x\"", "network.proxy"),
            ("noProxy = \"lan\"", "network.noProxy: expected a list of host names, domains and networks"),
            ("noProxy = [\"a b\"]", "network.noProxy"), ("noProxy = [\"a,b\"]", "network.noProxy"),
            ("noProxy = [\"\"]", "network.noProxy"), ("noProxy = [1]", "network.noProxy"),
            ("resolveTimeout = 0", "expected a whole number of seconds from 1 to 300, found 0"),
            ("connectTimeout = 301", "found 301"), ("requestTimeout = 1.5", "network.requestTimeout"),
            ("clientCertificateFile = \"device.pem\"", "expected an absolute path"),
            ("clientKeyFile = \"device.key\"", "expected an absolute path"),
            ("timeout = 5", "network.timeout: unknown key"),
        ]
    )
    func `a wrong value is refused with the expected form and without its secret`(line: String, expected: String) {
        let complaint = complaint("[network]\n\(line)")

        #expect(complaint?.contains(expected) == true)
        #expect(complaint?.hasPrefix("junctiond.toml:2: network.") == true)
        #expect(complaint?.contains("hunter2") == false)
    }

    @Test func `JUNCTIOND_ variables override the file`() throws {
        let network = try settings(
            "[network]\nproxy = \"http://a:1\"\nnoProxy = [\"a\"]\nresolveTimeout = 1",
            variables: [
                "JUNCTIOND_NETWORK_PROXY": "http://b:2", "JUNCTIOND_NETWORK_NO_PROXY": "b, c",
                "JUNCTIOND_NETWORK_RESOLVE_TIMEOUT": "2",
            ]
        ).network

        #expect(network.proxy?.place == "http://b:2")
        #expect(network.noProxy == ["b", "c"])
        #expect(network.limits.resolve == .seconds(2))
    }

    @Test(
        arguments: [
            (["HTTPS_PROXY": "http://a:1", "https_proxy": "http://b:2", "ALL_PROXY": "http://c:3"], "http://a:1"),
            (["https_proxy": "http://b:2", "ALL_PROXY": "http://c:3", "all_proxy": "http://d:4"], "http://b:2"),
            (["ALL_PROXY": "http://c:3", "all_proxy": "http://d:4"], "http://c:3"),
            (["all_proxy": "http://d:4"], "http://d:4"),
            (["HTTPS_PROXY": "", "https_proxy": "b:2"], "http://b:2"),
            (["HTTPS_PROXY": "", "ALL_PROXY": ""], ""),
            (["HTTP_PROXY": "http://a:1", "http_proxy": "http://a:1", "FTP_PROXY": "http://a:1"], ""),
        ]
    )
    func `without a proxy in the file the environment's proxy is used`(variables: [String: String], expected: String)
        throws
    {
        #expect(try use(settings(""), variables).proxy == expected)
        #expect(try use(settings("network.proxy = \"http://own:9\""), variables).proxy == "http://own:9")
    }

    @Test(
        arguments: [
            (["NO_PROXY": "a, .b  10.0.0.0/8,", "no_proxy": "c"], "a,.b,10.0.0.0/8"), (["no_proxy": "c"], "c"),
            (["NO_PROXY": "", "no_proxy": "c"], "c"), (["NO_PROXY": "*"], "*"), ([:], ""),
        ]
    )
    func `without noProxy in the file the environment's NO_PROXY is used`(
        variables: [String: String],
        expected: String
    ) throws {
        #expect(try use(settings(""), variables).noProxy == expected)
        #expect(try use(settings("network.noProxy = [\"own\"]"), variables).noProxy == "own")
        #expect(try use(settings("network.noProxy = []"), variables).noProxy == "")
    }

    @Test(arguments: ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
    func `an invalid proxy variable fails the start and its password is not shown`(name: String) throws {
        let configuration = try settings("")
        let failure = #expect(throws: StartFailure.self) {
            try configuration.networkSettings(credentials: nil, variables: [name: "http://kiosk:hunter2@p:1/x"])
        }

        #expect(failure?.status == .configuration)
        #expect(failure?.message.hasPrefix("\(name): ") == true)
        #expect(failure?.message.contains("hunter2") == false)
        // A variable that is not used may have any content.
        _ = try settings("network.proxy = \"http://own:9\"")
            .networkSettings(credentials: nil, variables: [name: "http://kiosk:hunter2@p:1/x"])
    }

    @Test func `a client key needs a certificate and may be a credential`() throws {
        #expect(
            failure(try settings("network.clientKeyFile = \"/k\""))
                == "network.clientKeyFile: there is no network.clientCertificateFile"
        )
        let folder = TemporaryFolder()
        let pem = "-----BEGIN CERTIFICATE-----\nMAMCAQA=\n-----END CERTIFICATE-----\n"
        let certificate = try folder.write(pem, to: "device.pem")
        #expect(
            failure(try settings("network.clientCertificateFile = \"\(certificate)\""))
                == "network.clientCertificateFile: its key is missing; expected network.clientKeyFile, or the credential "
                + "network.clientKey"
        )
        // Both files are read, and the error names the first one that is missing.
        #expect(
            failure(try settings("network.clientCertificateFile = \"/nowhere/c\""), credentials: "/credentials")?
                .contains("/nowhere/c") == true
        )
        #expect(
            failure(try settings("tls.caFile = \"/nowhere/ca\""))?.hasPrefix("tls.caFile: /nowhere/ca cannot be read")
                == true
        )
    }

    // MARK: What they share

    private func use(
        _ configuration: Configuration,
        _ variables: [String: String] = [:]
    ) throws -> (proxy: String, noProxy: String) {
        let told = try configuration.networkSettings(credentials: nil, variables: variables).current.settings
        return (told.proxy.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }, told.noProxy)
    }

    private func failure(_ configuration: Configuration, credentials: String? = nil) -> String? {
        do throws(StartFailure) {
            _ = try configuration.networkSettings(credentials: credentials, variables: [:])
            return nil
        } catch {
            return error.message
        }
    }
}
