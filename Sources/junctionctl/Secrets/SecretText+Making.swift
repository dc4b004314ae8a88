import JunctionJSON
import JunctionProtocol
import JunctionSecret

extension SecretText {
    /// Joins the parts in memory that is wiped.
    init(joining pieces: SecretPiece...) {
        self.init(SharedSecret(joining: pieces))
    }

    /// Writes a JSON document in memory that is wiped.
    init(json body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        body(&writer)
        self = writer.withUnsafeBytes { SecretText(copying: $0) }
    }

    /// The value of an `Authorization` header with this token.
    var asBearer: SecretText { SecretText(joining: .text("Bearer "), .secret(box)) }
}
