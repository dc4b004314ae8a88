import Foundation

/// HTTP to the sandbox without the project's own client: a plain connection for each request.
struct CloudHttp {
    func send(
        _ method: String,
        _ url: String,
        _ path: String,
        _ body: Object?,
        headers: [String]
    ) throws -> (status: Int, body: Object) {
        let bytes = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
        let answer = try exchange(method, url, path, bytes, "application/json", headers: headers)
        return (answer.status, try JSONSerialization.jsonObject(with: answer.body) as? Object ?? [:])
    }

    /// A form as a browser posts it; where the answer sends the browser next.
    func post(form: [String: String], _ url: String, _ path: String) throws -> (status: Int, redirect: String?) {
        var encoded = URLComponents()
        encoded.queryItems = form.map { URLQueryItem(name: $0, value: $1) }
        let body = (encoded.percentEncodedQuery ?? "").replacing("+", with: "%2B")
        let answer = try exchange("POST", url, path, Data(body.utf8), "application/x-www-form-urlencoded", headers: [])
        let redirect = answer.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("location:") }
        return (answer.status, redirect.map { $0.dropFirst("location:".count).trimmingCharacters(in: .whitespaces) })
    }

    private func exchange(
        _ method: String,
        _ url: String,
        _ path: String,
        _ body: Data,
        _ contentType: String,
        headers: [String]
    ) throws -> (status: Int, head: String, body: Data) {
        let port = url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        let descriptor = try connection(port: port)
        defer { close(descriptor) }
        let head =
            [
                "\(method) \(path) HTTP/1.1", "host: 127.0.0.1:\(port)", "connection: close",
                "content-type: \(contentType)", "content-length: \(body.count)",
            ] + headers
        descriptor.sendAll(Array(head.joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8) + body)
        let answer = try LineReader(descriptor).rest()
        guard let end = answer.firstRange(of: Data("\r\n\r\n".utf8)),
            let status = String(decoding: answer.dropFirst(9).prefix(3), as: UTF8.self).asInteger
        else { throw Program.Failure(description: "The sandbox did not answer \(method) \(path)") }
        return (status, String(decoding: answer[..<end.lowerBound], as: UTF8.self), answer[end.upperBound...])
    }

    private func connection(port: UInt16) throws -> Int32 {
        let descriptor = makeSocket(AF_INET, SOCK_STREAM)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw Program.Failure(description: "The sandbox cannot be reached: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }
}

extension StringProtocol {
    fileprivate var asInteger: Int? { Int(self) }
}
