import Crypto

@testable import JunctionVault

extension [UInt8] {
    /// A session of generation 4 in the first format.
    static var firstFormat: [UInt8] {
        framed(
            version: 1,
            header: """
                {"installation":"\(thisInstallation)","generation":4,"key":"\(SealingKey.test().id)",\
                "provider":"junction","scheme":"signInToken","state":"established","userId":"u-1",\
                "writtenAt":1700000000004}
                """,
            sealing: """
                {"identity":{"userId":"u-1","environment":"sandbox","region":"eu"},"scheme":"signInToken",\
                "token":{"issuedAt":1700000000000,"expiresAt":1700003600000,"generation":4},\
                "renewAt":1700002000000,"reauthenticationPending":false,\
                "secrets":{"accessToken":"access-4","refreshToken":"refresh-4"}}
                """
        )
    }

    /// Returns this clear part with the sealed length of `frame` and a matching checksum.
    func settingSealedLength(of frame: RecordFrame) -> [UInt8] {
        var bytes = Array(dropLast(RecordFrame.checksum))
        bytes.replaceSubrange(13..<17, with: frame.clear.prefix(17).suffix(4))
        return bytes + SHA256.hash(data: bytes)
    }
}
