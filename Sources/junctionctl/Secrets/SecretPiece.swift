import JunctionJSON
import JunctionProtocol
import JunctionSecret

/// A part of a text that contains a secret.
enum SecretPiece {
    case text(String)
    case secret(SecretText)
}

extension SecretText {
    /// Joins the parts in memory that is wiped.
    init(joining pieces: SecretPiece...) {
        let capacity = pieces.reduce(0) { sum, piece in
            switch piece {
            case .text(let text): sum + text.utf8.count
            case .secret(let secret): sum + secret.count
            }
        }
        let joined = Secret(capacity: capacity) { room in
            var end = 0
            for piece in pieces {
                let rest = UnsafeMutableRawBufferPointer(rebasing: room[end...])
                switch piece {
                case .text(let text):
                    rest.copyBytes(from: text.utf8)
                    end += text.utf8.count
                case .secret(let secret):
                    secret.withUnsafeBytes { rest.copyMemory(from: $0) }
                    end += secret.count
                }
            }
            return end
        }
        self.init(SharedSecret(joined))
    }

    /// Writes a JSON document in memory that is wiped.
    init(json body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        body(&writer)
        self = writer.withUnsafeBytes { SecretText(copying: $0) }
    }

    /// The value of an `Authorization` header with this token.
    var asBearer: SecretText { SecretText(joining: .text("Bearer "), .secret(self)) }
}
