import JunctionSecret
import Testing

@testable import JunctionProviders

struct PemFileTests {
    private static let certificate = "-----BEGIN CERTIFICATE-----\nMAMCAQA=\n-----END CERTIFICATE-----\n"
    /// With a length of two bytes, as in a real certificate.
    private static let long = certificate.replacing("MAMCAQA", with: "MIIBAA" + String(repeating: "A", count: 341))
    private static let key = "-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"

    @Test(arguments: [
        certificate, certificate + certificate, "# an authority\n" + certificate, key + certificate,
        certificate.replacing("\n", with: "\r\n"), String(certificate.dropLast()), "\n\n" + certificate,
        certificate.replacing("CERTIFICATE", with: "TRUSTED CERTIFICATE"),
        long, certificate.replacing("-\n", with: "- \t\n"),
        certificate.replacing("CERTIFICATE", with: "TRUSTED CERTIFICATE").replacing("MAMCAQA=", with: "MAMCAQAwAA=="),
    ])
    func `a file with certificates is accepted`(text: String) {
        #expect(PemFile.holds(.certificates, SharedSecret(text: text)))
    }

    @Test(arguments: [
        "", "certificate", key, "-----BEGIN CERTIFICATE-----\nMAMCAQA=\n", "MAMCAQA=\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n<html>\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n",
        // Truncated, with a trailing byte, with a wrong length, and one incomplete certificate among complete ones.
        "-----BEGIN CERTIFICATE-----\nMAMCAQ==\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nMAMCAQAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nMIADAgEA\n-----END CERTIFICATE-----\n",
        certificate + "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
        " -----BEGIN CERTIFICATE-----\nMAMCAQA=\n-----END CERTIFICATE-----\n",
        // An incomplete certificate after or before a complete one: no library reads the rest.
        certificate + "-----BEGIN CERTIFICATE-----\nMAMC", "-----BEGIN CERTIFICATE-----\n" + certificate,
        certificate + "-----BEGIN CERTIFICATE-----\nMAMCAQA=\n" + certificate,
    ])
    func `a file without a complete certificate is refused`(text: String) {
        #expect(!PemFile.holds(.certificates, SharedSecret(text: text)))
    }

    @Test(arguments: [
        key, key.replacing("PRIVATE", with: "RSA PRIVATE"), key.replacing("PRIVATE", with: "EC PRIVATE"),
        certificate + key,
    ])
    func `a file with a key is accepted`(text: String) {
        #expect(PemFile.holds(.key, SharedSecret(text: text)))
    }

    @Test(arguments: [
        certificate, key.replacing("PRIVATE", with: "PUBLIC"),
        // Encrypted keys, whose password cannot be requested.
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMAMCAQA=\n-----END RSA PRIVATE KEY-----\n",
        key.replacing("PRIVATE", with: "ENCRYPTED PRIVATE"),
    ])
    func `a file without a usable key is refused`(text: String) {
        #expect(!PemFile.holds(.key, SharedSecret(text: text)))
    }
}
