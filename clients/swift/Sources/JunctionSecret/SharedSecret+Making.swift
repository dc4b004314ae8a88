/// A part of a text that contains a secret.
package enum SecretPiece: Sendable {
    case text(String)
    case secret(SharedSecret)
}

extension SharedSecret {
    /// Joins the parts.
    package convenience init(joining pieces: [SecretPiece]) {
        let capacity = pieces.reduce(0) { sum, piece in
            switch piece {
            case .text(let text): sum + text.utf8.count
            case .secret(let secret): sum + secret.count
            }
        }
        self.init(
            Secret(capacity: capacity) { room in
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
        )
    }

    /// Fills a new secret in place, like `Secret.init(capacity:filling:)`. The result is `nil` if `fill` returns `nil`.
    package convenience init?(capacity: Int, decoding fill: (UnsafeMutableRawBufferPointer) -> Int?) {
        var isValid = true
        let secret = Secret(capacity: capacity) { room in
            let written = fill(room)
            isValid = written != nil
            return written ?? 0
        }
        guard isValid else { return nil }
        self.init(secret)
    }
}
