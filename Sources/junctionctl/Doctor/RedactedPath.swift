import JunctionText

/// A path, a URL or a proxy address without the parts that may be a secret.
///
/// The text is parsed as the daemon parses it. It is not shown at all unless every part is plain.
enum RedactedPath {
    static func path(_ text: String) -> String? {
        text.hasPrefix("/") && text.utf8.allSatisfy { isOfPath($0) || $0 == UInt8(ascii: " ") } ? text : nil
    }

    /// Returns scheme, host, port and path of a URL.
    static func url(_ text: String) -> String? {
        guard isOneWord(text), !text.contains("@"), let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        let rest = text[mark.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        guard ["http", "https"].contains(scheme), let place = host(String(authority)) else { return nil }
        let tail = rest[authority.endIndex...]
        let path = tail.prefix { !"?#".contains($0) }
        let shownPath = path.utf8.allSatisfy(isOfPath) ? String(path) : "/\(Redaction.mark)"
        return "\(scheme)://\(place)\(shownPath)" + (path.endIndex == tail.endIndex ? "" : "?\(Redaction.mark)")
    }

    /// Returns host and port of a proxy, and a mark for credentials. The scheme may be missing, as in an environment
    /// variable.
    static func proxy(_ text: String) -> String? {
        guard isOneWord(text) else { return nil }
        var rest = text[...]
        if let mark = text.firstRange(of: "://") {
            guard ["http", "https", "socks5", "socks5h"].contains(text[..<mark.lowerBound].lowercased()) else {
                return nil
            }
            rest = text[mark.upperBound...]
        }
        let authority = rest.prefix { $0 != "/" }
        let tail = rest[authority.endIndex...]
        let parts = authority.split(separator: "@", omittingEmptySubsequences: false)
        guard tail.isEmpty || tail == "/", parts.count <= 2, let last = parts.last, let place = host(String(last))
        else {
            return nil
        }
        return parts.count == 2 ? "\(Redaction.mark)@\(place)" : place
    }

    /// Returns a host name or an address, perhaps with a port.
    static func host(_ text: String) -> String? {
        var host = text[...]
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            let port = text[text.index(after: colon)...].utf8
            guard (1...5).contains(port.count), port.allSatisfy(\.isASCIIDigit) else { return nil }
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = host.dropFirst().dropLast().utf8
            return address.allSatisfy { Hexadecimal.value(of: $0) != nil || ":.".utf8.contains($0) } ? text : nil
        }
        return !host.isEmpty && host.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._".utf8.contains($0) } ? text : nil
    }

    /// Whether the text is ASCII without blanks, so that every character is one byte.
    private static func isOneWord(_ text: String) -> Bool { text.utf8.allSatisfy(\.isVisibleASCII) }

    private static func isOfPath(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "/._-~+@".utf8.contains(byte)
    }
}
