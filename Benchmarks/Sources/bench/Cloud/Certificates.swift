/// A private certificate authority, and a certificate for loopback.
struct Certificates {
    let authority: String
    let chain: String
    let key: String

    init(_ lab: Lab) throws {
        let folder = try lab.folder("certificates")
        authority = "\(folder)/authority.pem"
        chain = "\(folder)/loopback.pem"
        key = "\(folder)/loopback.key"
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]

        try Command(
            named: "openssl",
            [
                "req", "-x509", "-subj", "/CN=Benchmark authority", "-out", authority, "-keyout",
                "\(folder)/authority.key",
            ]
                + newKey
        ).run()
        try Command(
            named: "openssl",
            ["req", "-x509", "-CA", authority, "-CAkey", "\(folder)/authority.key", "-subj", "/CN=localhost"]
                + ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"]
                + ["-out", chain, "-keyout", key] + newKey
        ).run()
    }
}
