import Crypto

/// The versions of the record format that this junctiond reads. It writes the current one.
package enum RecordFormat: UInt8, Sendable, CaseIterable {
    /// Has no editions, no external user ids and no renewal intent.
    case first = 1
    case current = 2
}

/// The outer layout of a record file: the parts that need no key.
///
///     magic          8 bytes, `junction`
///     format         1 byte
///     header length  4 bytes, big-endian
///     sealed length  4 bytes, big-endian
///     header         JSON
///     checksum       32 bytes, SHA-256 of all the above
///     sealed         nonce, ciphertext and tag; everything before it is associated data
///
/// The checksum detects accidental changes of the header without the key; it does not protect against an attacker.
/// Every later format keeps this layout up to the checksum, so that an old junctiond recognises a new record and does
/// not change it.
struct RecordFrame {
    var format: RecordFormat
    var header: RecordHeader
    /// All bytes before the sealed part.
    var clear: ArraySlice<UInt8>
    /// The sealed part. It is nil if the file is shorter or longer than the layout says.
    var sealed: ArraySlice<UInt8>?

    enum Fault: Error, Equatable {
        /// The file ends before the sealed part begins.
        case torn
        /// The bytes are not a record, or the clear part was altered.
        case illegible
        /// A newer junctiond wrote the record.
        case newer(format: UInt8)
    }

    static let magic = Array("junction".utf8)
    static let prologue = magic.count + 1 + 4 + 4
    static let checksum = 32

    /// The longest record, in bytes. A session has 2–20 kB, and partial grants may have many times that. The limit only
    /// keeps a planted file from filling the memory.
    static let longest = 1024 * 1024

    init(reading bytes: [UInt8]) throws(Fault) {
        guard bytes.contains(where: { $0 != 0 }) else { throw .torn }
        guard bytes.count <= Self.longest, bytes.starts(with: Self.magic.prefix(bytes.count)) else { throw .illegible }
        guard bytes.count >= Self.prologue else { throw .torn }

        let version = bytes[Self.magic.count]
        let headerLength = bytes.bigEndian(at: Self.magic.count + 1)
        let sealedLength = bytes.bigEndian(at: Self.magic.count + 5)
        guard headerLength <= Self.longest, sealedLength <= Self.longest else { throw .illegible }
        let endOfHeader = Self.prologue + headerLength
        let endOfClear = endOfHeader + Self.checksum
        guard bytes.count >= endOfClear else { throw .torn }
        guard SHA256.hash(data: bytes[..<endOfHeader]) == bytes[endOfHeader..<endOfClear] else { throw .illegible }
        guard version <= RecordFormat.current.rawValue else { throw .newer(format: version) }
        guard
            let format = RecordFormat(rawValue: version),
            let header = RecordHeader(decoding: Array(bytes[Self.prologue..<endOfHeader]), format: format)
        else { throw .illegible }

        self.format = format
        self.header = header
        clear = bytes[..<endOfClear]
        sealed = bytes.count == endOfClear + sealedLength ? bytes[endOfClear...] : nil
    }

    /// Returns the clear part of a record in the current format.
    ///
    /// - Parameter header: the encoded header.
    static func clear(_ header: [UInt8], sealedLength: Int) -> [UInt8] {
        var bytes = magic
        bytes.reserveCapacity(prologue + header.count + checksum + sealedLength)
        bytes.append(RecordFormat.current.rawValue)
        bytes.append(bigEndian: UInt32(header.count))
        bytes.append(bigEndian: UInt32(sealedLength))
        bytes += header
        bytes += SHA256.hash(data: bytes)
        return bytes
    }
}

extension [UInt8] {
    fileprivate func bigEndian(at index: Int) -> Int {
        self[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    fileprivate mutating func append(bigEndian value: UInt32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
