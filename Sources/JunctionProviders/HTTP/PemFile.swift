import JunctionSecret

/// Checks the form of a PEM file (RFC 7468) without a certificate library.
///
/// Only the network helper finds out whether TLS can use the certificate. This check detects a wrong file or an
/// incomplete one.
enum PemFile {
    static func holds(_ kind: WatchedFile.Kind, _ file: SharedSecret) -> Bool {
        let blocks = blocks(in: file)
        let asked =
            switch kind {
            case .certificates: blocks.filter { $0.label == "CERTIFICATE" || $0.label == "TRUSTED CERTIFICATE" }
            // An encrypted key is refused, because no user is there to enter its password.
            case .key: blocks.filter { $0.label.hasSuffix("PRIVATE KEY") && $0.label != "ENCRYPTED PRIVATE KEY" }
            }
        return !asked.isEmpty && asked.allSatisfy(\.isWhole)
    }

    /// Returns each block by its label, and whether it is complete and holds DER.
    private static func blocks(in file: SharedSecret) -> [(label: String, isWhole: Bool)] {
        file.withUnsafeBytes { bytes in
            var blocks: [(label: String, isWhole: Bool)] = []
            var label: String?
            var start = bytes.startIndex
            var position = bytes.startIndex
            for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                let next = position + line.count + 1
                defer { position = next }
                if let begun = mark("-----BEGIN ", line) {
                    if let torn = label { blocks.append((torn, false)) }
                    (label, start) = (begun, next)
                } else if let ended = mark("-----END ", line), ended == label {
                    label = nil
                    let isAlone = ended != "TRUSTED CERTIFICATE"
                    blocks.append((ended, holdsSequence(bytes[start..<position], alone: isAlone)))
                }
            }
            if let torn = label { blocks.append((torn, false)) }
            return blocks
        }
    }

    private static func mark(_ word: String, _ line: Slice<UnsafeRawBufferPointer>) -> String? {
        // RFC 7468 §2: ignore white space at the end of a line.
        let blanks = line.reversed().prefix {
            [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains($0)
        }
        let line = line.dropLast(blanks.count)
        guard line.starts(with: word.utf8), line.suffix(5).elementsEqual("-----".utf8) else { return nil }
        return String(decoding: line.dropFirst(word.utf8.count).dropLast(5), as: UTF8.self)
    }

    /// Returns whether a block is Base64 of a DER SEQUENCE with the correct length. If `isAlone`, no bytes may follow
    /// the SEQUENCE. A key in the old encrypted format has headers in the block, so it fails.
    private static func holdsSequence(_ block: Slice<UnsafeRawBufferPointer>, alone isAlone: Bool) -> Bool {
        guard let decoded = SharedSecret(base64: block) else { return false }
        return decoded.withUnsafeBytes { bytes in
            guard let end = endOfSequence(bytes) else { return false }
            return isAlone ? end == bytes.count : end <= bytes.count
        }
    }

    /// Returns the end of the SEQUENCE at the start of these bytes by its own length (X.690 §8.1.3). Returns `nil` if
    /// there is no SEQUENCE or if it is empty.
    private static func endOfSequence(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count > 2, bytes[0] == 0x30 else { return nil }
        let first = Int(bytes[1])
        guard first >= 0x80 else { return first > 0 ? 2 + first : nil }
        let digits = first - 0x80
        // Four length bytes are enough for any file.
        guard (1...4).contains(digits), bytes.count >= 2 + digits else { return nil }
        return bytes[2..<2 + digits].reduce(0) { $0 << 8 | Int($1) } + 2 + digits
    }
}
