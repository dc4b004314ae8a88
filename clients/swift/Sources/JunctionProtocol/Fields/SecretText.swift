import JunctionJSON
package import JunctionSecret

/// A token, code, key or signature, in separate memory that is wiped when the last reference to it is released.
///
/// The secret does not appear in a description, a debugger's summary or an interpolated string.
public struct SecretText: Sendable {
    package let box: SharedSecret

    package init(_ box: SharedSecret) {
        self.box = box
    }

    /// Copies the secret from other memory, which the caller has to wipe.
    public init(copying bytes: UnsafeRawBufferPointer) {
        box = SharedSecret(copying: bytes)
    }

    /// Copies the secret from a `String`. Swift does not allow wiping a `String`.
    public init(_ text: String) {
        box = SharedSecret(text: text)
    }

    init?(reading value: JSONValue) {
        guard let secret = value.secret, secret.count > 0 else { return nil }
        box = secret
    }

    /// The length of the secret, in bytes.
    public var count: Int { box.count }

    /// Passes the secret's UTF-8 to `body`, which must not keep it.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try box.withUnsafeBytes(body)
    }

    /// Returns the secret as a `String`, for libraries that need one. That copy cannot be wiped.
    public func revealed() -> String {
        box.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension SecretText: Equatable, CustomStringConvertible, CustomReflectable {
    /// Compares in a time that depends only on the length.
    public static func == (left: SecretText, right: SecretText) -> Bool {
        left.box.matches(right.box)
    }

    /// A placeholder, never the secret.
    public var description: String { box.description }

    /// An empty mirror, never the secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
