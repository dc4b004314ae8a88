import FuzzDriver
import JunctionSecret
import JunctionSession

@testable import JunctionVault

/// Parses arbitrary bytes as a record: a file, or a copy that the service manager kept.
///
/// The first byte selects the use of the other bytes: the whole file, the header of a frame with a valid checksum, or
/// the content of a valid seal in each state.
@main
enum FuzzRecord {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

private let key = SealingKey(SharedSecret(text: String(repeating: "k", count: SealingKey.length)), origin: "file")

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeRawBufferPointer(start: bytes, count: count))
    guard let depth = input.first else { return 0 }
    let rest = Array(input.dropFirst())
    switch depth % 3 {
    case 0: read(rest)
    case 1: read(frame(header: rest))
    default:
        for state in RecordHeader.State.allCases { read(sealed(rest, as: state)) }
    }
    return 0
}

private func read(_ file: [UInt8]) {
    let installation = InstallationId(String(repeating: "1", count: 32), .stored)
    for origin in [Candidate.Origin.record, .copy(file)] {
        let finding = RecordReader(key: key, installation: installation).finding(in: file, origin)
        _ = RecordReader(key: nil, installation: installation).candidate(origin, file).quarantineName
        // A decoded record is encoded again, and must be decoded to the same value.
        guard case .authentic(let opened) = finding, opened.header.keyId == key.id else { continue }
        guard
            let again = try? SealedRecord.bytes(
                of: opened.record,
                opened.secrets,
                installation: opened.header.installation,
                acknowledged: opened.header.acknowledged,
                key: key
            )
        else { continue }
        guard case .authentic(let same) = RecordReader(key: key, installation: installation).finding(in: again, origin),
            same.record == opened.record
        else { fatalError("A record that is not understood again") }
    }
}

private func frame(header: [UInt8]) -> [UInt8] {
    RecordFrame.clear(header, sealedLength: 0)
}

private func sealed(_ payload: [UInt8], as state: RecordHeader.State) -> [UInt8] {
    var header = RecordHeader(
        of: SessionRecord(
            generation: 7,
            edition: 1,
            writtenAt: WallTime(milliseconds: 1_795_219_200_000),
            provider: "junction",
            content: .signedOut
        ),
        installation: String(repeating: "1", count: 32),
        keyId: key.id
    )
    header.state = state
    if state == .established { header.scheme = .signInToken }
    let clear = RecordFrame.clear(header.encoded(), sealedLength: payload.count + SealingKey.overhead)
    return clear + payload.withUnsafeBytes { key.seal($0, binding: clear) }
}
