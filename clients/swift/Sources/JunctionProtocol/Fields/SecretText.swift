import JunctionJSON
package import JunctionSecret

/// A token, code, key or signature, kept in memory of its own that is wiped when the last holder lets go.
///
/// It never appears in a description, a debugger's summary or an interpolated string.
public struct SecretText: Sendable {
    package let box: SharedSecret

    package init(_ box: SharedSecret) {
        self.box = box
    }

    /// Copies the secret out of somebody else's memory, which stays theirs to wipe.
    public init(copying bytes: UnsafeRawBufferPointer) {
        box = SharedSecret(copying: bytes)
    }

    /// Copies the secret out of a `String`, which Swift does not let anybody wipe.
    public init(_ text: String) {
        box = SharedSecret(text: text)
    }

    init?(reading value: JSONValue) {
        guard let secret = value.secret, secret.count > 0 else { return nil }
        box = secret
    }

    /// How many bytes the secret has.
    public var count: Int { box.count }

    /// Lends the secret's UTF-8 for the length of `body`; it must not be kept.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try box.withUnsafeBytes(body)
    }

    /// Makes a `String` of it, for libraries that take nothing else. That copy cannot be wiped.
    public func revealed() -> String {
        box.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension SecretText: Equatable, CustomStringConvertible, CustomReflectable {
    /// Compares in a time that depends on the length only.
    public static func == (left: SecretText, right: SecretText) -> Bool {
        left.box.matches(right.box)
    }

    /// Never the secret.
    public var description: String { box.description }

    /// Never the secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
