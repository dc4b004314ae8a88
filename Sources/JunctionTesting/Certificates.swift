import FoundationEssentials

/// PEM certificates of authorities whose private keys were not kept.
package enum Certificates {
    /// A self-signed certificate with an RSA key, as most authorities have.
    package static let one = """
        -----BEGIN CERTIFICATE-----
        MIIDRTCCAi2gAwIBAgIUJlnMsOgdG/+6yAzUBOcAPd6ccJEwDQYJKoZIhvcNAQEL
        BQAwMTEYMBYGA1UECgwPanVuY3Rpb25kIHRlc3RzMRUwEwYDVQQDDAxBbiBhdXRo
        b3JpdHkwIBcNMjYxMTIzMTc1NzUyWhgPMjEyNjEwMzAxNzU3NTJaMDExGDAWBgNV
        BAoMD2p1bmN0aW9uZCB0ZXN0czEVMBMGA1UEAwwMQW4gYXV0aG9yaXR5MIIBIjAN
        BgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAhDLhJmV44vGwESy2Vqy4d84dOs3o
        6gyioO2TrfEVtGQhWxP8YeQeiSFWsaR2uEJQaPvh98Jzdm8DwHAWWR0B59i5IC9L
        TPVJv+5SNq4bktPrQ7j4ZR2yXkox/OrpD1CA64bFfC56NcKGMyV7Hqc5z1zJ8TCF
        qp8dNQ4iHWS3Sj1f58YlJ3XIZ9p2JXcCaw3dfWFk7OJhmMgnhJMK+QZAcWUobL5h
        dOOV834i8W68nvk9j9KixmJi/x2XvWdr8rlAvAgxGIoJo2jH2q1J2+g/JpoSqWmY
        MRved1YN7FLeCTFs4nwd7vsPS/LSK6gtXdxtU7S1PhufhuRd9wdBTX7IxwIDAQAB
        o1MwUTAdBgNVHQ4EFgQU6HFEGve0IHvksNb8HLomhqz1Yf0wHwYDVR0jBBgwFoAU
        6HFEGve0IHvksNb8HLomhqz1Yf0wDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0B
        AQsFAAOCAQEAakGV37YVEBn5E1Y3PBnyZneu98ht9hiAdMkuK0iEETB7rgeX324t
        FmeQJzQvaFFlND1F66pAM8eNWjngl8ey6LXrxVWB28cpdbRtvyuhdzqduKNV06SL
        U6g6Klr7jCudAM9ZpvEJmcEnVLlJ3PJfyyTPFhX6vURRnvUeaByOgvnzxCxaSsJ1
        Eyw2A/06y4g1Ir603XOvkRvEQ2g2H87pXigLbAf8478NmCOuzF7fgfany/LJJaXq
        E/Tg7gdgkALpNwO9pUiSS+iDVn3SVCt9FXEUIMR/w82lJXsobbayPqAtF6g9PUeW
        PUkizDXbqgYy8mbPZ8OCiS4x9RsCNfIavg==
        -----END CERTIFICATE-----

        """

    /// Returns `count` distinct certificates. They differ from `one` only in the last two bytes of the signature, which
    /// a program that only stores certificates does not verify.
    package static func some(_ count: Int) throws -> String {
        let lines = one.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        guard let bytes = Data(base64Encoded: lines) else { throw CocoaError(.fileReadCorruptFile) }
        return (0..<count).map { number in
            let other = bytes.dropLast(2) + [UInt8(number >> 8), UInt8(number & 0xFF)]
            return """
                -----BEGIN CERTIFICATE-----
                \(other.base64EncodedString(options: .lineLength64Characters))
                -----END CERTIFICATE-----

                """
        }.joined()
    }
}
