import JunctionSecret
import JunctionText

/// A form in the encoding `application/x-www-form-urlencoded`.
///
/// A token is copied from its secret into the secret of the body, and never through a `String`.
struct FormBody: Sendable {
    static let contentType = "application/x-www-form-urlencoded"

    private(set) var encoded: SharedSecret

    /// The name and the value of a field. Names have only characters that need no encoding.
    enum Field: Sendable {
        case text(name: String, value: String)
        case secret(name: String, value: SharedSecret)
    }

    init(_ fields: [Field]) {
        let capacity = fields.reduce(0) { $0 + $1.longestEncoding }
        encoded = SharedSecret(
            Secret(capacity: capacity) { room in
                var end = 0
                for field in fields {
                    if end > 0 {
                        room[end] = UInt8(ascii: "&")
                        end += 1
                    }
                    end += field.encode(into: UnsafeMutableRawBufferPointer(rebasing: room[end...]))
                }
                return end
            }
        )
    }
}

extension FormBody.Field {
    private var name: String {
        switch self {
        case .text(let name, _), .secret(let name, _): name
        }
    }

    /// The longest encoded form: the name, `=`, the value with every byte encoded, and `&`.
    fileprivate var longestEncoding: Int {
        let value =
            switch self {
            case .text(_, let value): value.utf8.count
            case .secret(_, let value): value.count
            }
        return name.utf8.count + 3 * value + 2
    }

    fileprivate func encode(into room: UnsafeMutableRawBufferPointer) -> Int {
        var end = 0
        for byte in name.utf8 {
            room[end] = byte
            end += 1
        }
        room[end] = UInt8(ascii: "=")
        end += 1
        let rest = UnsafeMutableRawBufferPointer(rebasing: room[end...])
        switch self {
        case .text(_, var value):
            return end + value.withUTF8 { PercentEncoding.encode(UnsafeRawBufferPointer($0), into: rest) }
        case .secret(_, let value):
            return end + value.withUnsafeBytes { PercentEncoding.encode($0, into: rest) }
        }
    }
}
