import JunctionSecret
import JunctionText

/// What a PEM file (RFC 7468) has in it, as far as that can be seen without a library for certificates.
///
/// Whether a certificate is one that TLS can use is found out by the courier: this finds the file that is another one, or is
/// torn.
enum PemFile {
    static func holds(_ kind: WatchedFile.Kind, _ file: SharedSecret) -> Bool {
        let blocks = blocks(in: file)
        let asked =
            switch kind {
            case .certificates: blocks.filter { $0.label == "CERTIFICATE" || $0.label == "TRUSTED CERTIFICATE" }
            // Nobody could be asked for the password of an encrypted one.
            case .key: blocks.filter { $0.label.hasSuffix("PRIVATE KEY") && $0.label != "ENCRYPTED PRIVATE KEY" }
            }
        return !asked.isEmpty && asked.allSatisfy(\.isWhole)
    }

    /// The blocks that begin, by their labels, and whether they end, with DER between.
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
        // RFC 7468 §2: blanks at the end of a line are to be ignored.
        let blanks = line.reversed().prefix {
            [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains($0)
        }
        let line = line.dropLast(blanks.count)
        guard line.starts(with: word.utf8), line.suffix(5).elementsEqual("-----".utf8) else { return nil }
        return String(decoding: line.dropFirst(word.utf8.count).dropLast(5), as: UTF8.self)
    }

    /// Whether a block is Base64, and what it stands for is a SEQUENCE in DER as long as it says, with nothing behind it where
    /// it is alone. A key that is encrypted in the old way has headers there.
    private static func holdsSequence(_ block: Slice<UnsafeRawBufferPointer>, alone isAlone: Bool) -> Bool {
        let decoded = Secret(capacity: Base64.mostBytes(for: block.count)) { room in
            Base64.decode(block, .lenient, into: room) ?? 0
        }
        return decoded.withUnsafeBytes { bytes in
            guard let end = endOfSequence(bytes) else { return false }
            return isAlone ? end == bytes.count : end <= bytes.count
        }
    }

    /// Where a SEQUENCE at the beginning of these bytes ends by its own length (X.690 §8.1.3), if there is one with a content.
    private static func endOfSequence(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count > 2, bytes[0] == 0x30 else { return nil }
        let first = Int(bytes[1])
        guard first >= 0x80 else { return first > 0 ? 2 + first : nil }
        let digits = first - 0x80
        // Four are more than any file of ours has.
        guard (1...4).contains(digits), bytes.count >= 2 + digits else { return nil }
        return bytes[2..<2 + digits].reduce(0) { $0 << 8 | Int($1) } + 2 + digits
    }
}
