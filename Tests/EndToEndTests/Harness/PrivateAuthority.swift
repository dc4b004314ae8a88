import Foundation

/// A certificate authority of the test's own, and a certificate for loopback that it signed.
final class PrivateAuthority {
    let authority: String
    let certificate: String
    let key: String

    init(in folder: TemporaryFolder) throws {
        authority = folder.path + "/ca.pem"
        certificate = folder.path + "/server.pem"
        key = folder.path + "/server.key"
        let (caKey, request) = (folder.path + "/ca.key", folder.path + "/server.csr")
        let names = try folder.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n", to: "names.cnf")
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        for arguments in [
            ["req", "-x509", "-days", "2", "-subj", "/CN=Test authority", "-keyout", caKey, "-out", authority] + newKey,
            ["req", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", request] + newKey,
            [
                "x509", "-req", "-in", request, "-CA", authority, "-CAkey", caKey, "-CAcreateserial", "-days", "2",
                "-extfile", names, "-out", certificate,
            ],
        ] {
            let ending = try Program("/usr/bin/openssl", arguments, in: folder).wait()
            guard ending.status == 0 else { throw Program.Failure(description: "openssl: \(ending.errors)") }
        }
    }
}
