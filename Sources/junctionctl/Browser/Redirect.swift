import JunctionProtocol
import JunctionSecret
import JunctionText

/// The meaning of a request to the loopback port, which any program of this machine can send.
enum Redirect: Equatable {
    /// The request is incomplete.
    case incomplete
    /// The opened browser asks for the address of the provider's page.
    case start
    /// The browser has returned the code.
    case code(SecretText)
    /// The provider has refused, with this text.
    case refused(String)
    /// The request is something else, and the wait continues.
    case foreign(Foreign)

    enum Foreign: Equatable {
        case unreadable
        case otherPath
        case otherMethod
        /// The page has another `state`: it belongs to an earlier sign-in, or an attacker made it to sign this machine
        /// in to another account.
        case otherState
        /// Another user of this machine made the connection, or its user is unknown.
        case otherUser
    }

    /// The path that the provider redirects the browser to.
    static let path = "/callback"
    /// The path at which the browser is opened. It redirects to the provider's page.
    static let startPath = "/start"

    /// Reads the head of an HTTP request.
    ///
    /// - Parameter state: the `state` of this sign-in, which no other page knows.
    init(reading head: UnsafeRawBufferPointer, state: SecretText) {
        guard Self.isWhole(head) else {
            self = .incomplete
            return
        }
        self = Self.outcome(of: head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }, state)
    }

    /// Whether the head contains the empty line that ends it.
    private static func isWhole(_ head: UnsafeRawBufferPointer) -> Bool {
        var isEmptyLine = false
        for byte in head {
            switch byte {
            case UInt8(ascii: "\n") where isEmptyLine: return true
            case UInt8(ascii: "\n"): isEmptyLine = true
            case UInt8(ascii: "\r"): continue
            default: isEmptyLine = false
            }
        }
        return false
    }

    private static func outcome(of line: Slice<UnsafeRawBufferPointer>, _ state: SecretText) -> Redirect {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[2].starts(with: "HTTP/1.".utf8) else { return .foreign(.unreadable) }
        let parts = words[1].split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        let isStart = parts.first?.elementsEqual(startPath.utf8) == true
        guard isStart || parts.first?.elementsEqual(path.utf8) == true else { return .foreign(.otherPath) }
        guard words[0].elementsEqual("GET".utf8) else { return .foreign(.otherMethod) }
        guard !isStart else { return .start }
        guard let query = Query(parts.dropFirst().first ?? words[1].suffix(0)) else { return .foreign(.unreadable) }
        guard query.state == state else { return .foreign(.otherState) }
        if let error = query.error {
            return .refused([error, query.description].compactMap(\.self).joined(separator: ": "))
        }
        return query.code.map { .code($0) } ?? .foreign(.unreadable)
    }

    /// The parameters of RFC 6749 §4.1.2, each at most once. All others are ignored.
    private struct Query {
        var code: SecretText?
        var state: SecretText?
        var error: String?
        var description: String?

        init?(_ text: Slice<UnsafeRawBufferPointer>) {
            for parameter in text.split(separator: UInt8(ascii: "&")) {
                let sides = parameter.split(
                    separator: UInt8(ascii: "="),
                    maxSplits: 1,
                    omittingEmptySubsequences: false
                )
                guard sides.count == 2 else { continue }
                func isNamed(_ name: String) -> Bool { sides[0].elementsEqual(name.utf8) }
                if isNamed("code") {
                    guard take(sides[1], &code) else { return nil }
                } else if isNamed("state") {
                    guard take(sides[1], &state) else { return nil }
                } else if isNamed("error") {
                    guard takeWords(sides[1], &error) else { return nil }
                } else if isNamed("error_description") {
                    guard takeWords(sides[1], &description) else { return nil }
                }
            }
        }

        private func take(_ value: Slice<UnsafeRawBufferPointer>, _ place: inout SecretText?) -> Bool {
            guard place == nil, let secret = SecretText(unescaping: value) else { return false }
            place = secret
            return true
        }

        /// Takes a text for the user, at most 200 characters.
        private func takeWords(_ value: Slice<UnsafeRawBufferPointer>, _ place: inout String?) -> Bool {
            var words: SecretText?
            guard place == nil, take(value, &words) else { return false }
            place = words.map { String($0.revealed().prefix(200)) }
            return true
        }
    }
}

extension SecretText {
    /// Decodes a query value. Returns nil if it is empty or not properly escaped.
    fileprivate init?(unescaping text: Slice<UnsafeRawBufferPointer>) {
        let secret = SharedSecret(capacity: text.count) { PercentEncoding.decode(form: text, into: $0) }
        guard let secret, secret.count > 0 else { return nil }
        self.init(secret)
    }
}
