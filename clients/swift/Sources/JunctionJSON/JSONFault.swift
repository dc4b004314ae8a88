/// Why bytes are not a valid JSON text. The offset is that of the first invalid byte.
package enum JSONFault: Error, Equatable, Sendable {
    /// The text violates the grammar of RFC 8259, for example by a lone surrogate.
    case malformed(at: Int)
    /// The containers are nested more deeply than the reader allows.
    case tooDeep(at: Int)
    /// A string is not UTF-8.
    case notUTF8(at: Int)
    /// The text is longer than `JSONReader.longestText`.
    case tooLong
}

extension JSONFault: CustomStringConvertible {
    /// The fault and its offset, without the text, which may contain a secret.
    package var description: String {
        switch self {
        case .malformed(let offset): "malformed JSON at byte \(offset)"
        case .tooDeep(let offset): "JSON nested too deeply at byte \(offset)"
        case .notUTF8(let offset): "JSON text that is not UTF-8 at byte \(offset)"
        case .tooLong: "a JSON text longer than \(JSONReader.longestText) bytes"
        }
    }
}
