/// What HTTP allows in the name and the value of a header field. Both ends ask here, for requests and for answers.
package enum FieldText {
    /// Whether the bytes are a `token` (RFC 9110 section 5.6.2): a method, or the name of a field.
    package static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { tokenBytes.contains($0) }
    }

    /// Whether the bytes can be the value of a field (RFC 9110 section 5.5): no control character but the tab, so nothing that
    /// could end the line.
    package static func isValue(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
    }

    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8
    )
}
