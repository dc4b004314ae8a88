/// The characters that HTTP allows in the name and the value of a header field. The daemon and the network helper use
/// the same check, for requests and for answers.
package enum FieldText {
    /// Returns whether the bytes are a `token` (RFC 9110 section 5.6.2): a method, or the name of a field.
    package static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { tokenBytes.contains($0) }
    }

    /// Returns whether the bytes can be the value of a field (RFC 9110 section 5.5): no control character except the
    /// tab, so no line break.
    package static func isValue(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
    }

    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8
    )
}
