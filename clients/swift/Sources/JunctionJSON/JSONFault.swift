/// Why some bytes are not a JSON text; the offset is that of the first byte that cannot be right.
package enum JSONFault: Error, Equatable, Sendable {
    /// Against the grammar of RFC 8259, a lone surrogate included.
    case malformed(at: Int)
    /// More containers inside each other than the reader allows.
    case tooDeep(at: Int)
    /// A string that is not UTF-8.
    case notUTF8(at: Int)
    /// Longer than `JSONReader.longestText`.
    case tooLong
}

extension JSONFault: CustomStringConvertible {
    /// What is wrong and where, without the text itself: it may hold a secret.
    package var description: String {
        switch self {
        case .malformed(let offset): "malformed JSON at byte \(offset)"
        case .tooDeep(let offset): "JSON nested too deeply at byte \(offset)"
        case .notUTF8(let offset): "JSON text that is not UTF-8 at byte \(offset)"
        case .tooLong: "a JSON text longer than \(JSONReader.longestText) bytes"
        }
    }
}
