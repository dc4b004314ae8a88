import JunctionSecret
import JunctionText

/// What a PEM file (RFC 7468) has in it, as far as that can be seen without a library for certificates.
///
/// Whether a certificate is one that TLS can use is found out by the courier: this finds the file that is another one.
enum PemFile {
    static func holds(_ kind: WatchedFile.Kind, _ file: SharedSecret) -> Bool {
        let labels = blocks(in: file)
        return switch kind {
        case .certificates: labels.contains { $0 == "CERTIFICATE" || $0 == "TRUSTED CERTIFICATE" }
        // Nobody could be asked for the password of an encrypted one.
        case .key: labels.contains { $0.hasSuffix("PRIVATE KEY") && $0 != "ENCRYPTED PRIVATE KEY" }
        }
    }

    /// The labels of the blocks that begin, end and hold DER between.
    private static func blocks(in file: SharedSecret) -> [String] {
        file.withUnsafeBytes { bytes in
            var labels: [String] = []
            var label: String?
            var start = bytes.startIndex
            var position = bytes.startIndex
            for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                let next = position + line.count + 1
                defer { position = next }
                if let begun = mark("-----BEGIN ", line) {
                    (label, start) = (begun, next)
                } else if let ended = mark("-----END ", line), ended == label {
                    label = nil
                    if holdsSequence(bytes[start..<position]) { labels.append(ended) }
                }
            }
            return labels
        }
    }

    private static func mark(_ word: String, _ line: Slice<UnsafeRawBufferPointer>) -> String? {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        guard line.starts(with: word.utf8), line.suffix(5).elementsEqual("-----".utf8) else { return nil }
        return String(decoding: line.dropFirst(word.utf8.count).dropLast(5), as: UTF8.self)
    }

    /// Whether a block is Base64, and what it stands for begins like a SEQUENCE in DER. A key that is encrypted in the old way
    /// has headers there.
    private static func holdsSequence(_ block: Slice<UnsafeRawBufferPointer>) -> Bool {
        let decoded = Secret(capacity: Base64.mostBytes(for: block.count)) { room in
            Base64.decode(block, .lenient, into: room) ?? 0
        }
        return decoded.withUnsafeBytes { $0.count > 2 && $0[0] == 0x30 }
    }
}
