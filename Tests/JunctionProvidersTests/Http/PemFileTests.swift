import JunctionSecret
import Testing

@testable import JunctionProviders

struct PemFileTests {
    private static let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    private static let key = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"

    @Test(arguments: [
        certificate, certificate + certificate, "# an authority\n" + certificate, key + certificate,
        certificate.replacing("\n", with: "\r\n"), String(certificate.dropLast()), "\n\n" + certificate,
        certificate.replacing("CERTIFICATE", with: "TRUSTED CERTIFICATE"),
        "-----BEGIN CERTIFICATE-----\n" + certificate,
    ])
    func `certificates are found`(text: String) {
        #expect(PemFile.holds(.certificates, SharedSecret(text: text)))
    }

    @Test(arguments: [
        "", "certificate", key, "-----BEGIN CERTIFICATE-----\nMIIB\n", "MIIB\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n<html>\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END PRIVATE KEY-----\n",
        " -----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    ])
    func `what is no certificate is none`(text: String) {
        #expect(!PemFile.holds(.certificates, SharedSecret(text: text)))
    }

    @Test(arguments: [
        key, key.replacing("PRIVATE", with: "RSA PRIVATE"), key.replacing("PRIVATE", with: "EC PRIVATE"),
        certificate + key,
    ])
    func `a key is found`(text: String) {
        #expect(PemFile.holds(.key, SharedSecret(text: text)))
    }

    @Test(arguments: [
        certificate, key.replacing("PRIVATE", with: "PUBLIC"),
        // Whose password nobody could be asked for.
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIB\n-----END RSA PRIVATE KEY-----\n",
        key.replacing("PRIVATE", with: "ENCRYPTED PRIVATE"),
    ])
    func `what is no key that we could use is none`(text: String) {
        #expect(!PemFile.holds(.key, SharedSecret(text: text)))
    }
}
