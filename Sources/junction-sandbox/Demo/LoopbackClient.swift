import FoundationEssentials
import Glibc

/// A minimal HTTP client for the demo's backend: one request per connection to the sandbox.
struct LoopbackClient {
    let port: UInt16

    var origin: String { "http://127.0.0.1:\(port)" }

    /// Sends a request with a team's API key and decodes the answer.
    func ask<Answer: Decodable>(_ type: Answer.Type, _ path: String, key: String, body: String) throws -> Answer {
        let text = try send("POST", path, headers: ["x-vital-api-key": key], body: body)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: Data(text.utf8))
    }

    /// Sends a request and returns the body of a successful answer.
    func send(_ method: String, _ path: String, headers: [String: String], body: String = "") throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw DemoFailure("the cloud cannot be reached") }

        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        head += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        let request = Array((head + "\r\n" + body).utf8)
        guard write(descriptor, request, request.count) == request.count else {
            throw DemoFailure("the cloud does not read")
        }
        let answer = String(decoding: readToEnd(descriptor, atMost: 1 << 20), as: UTF8.self)
        guard answer.hasPrefix("HTTP/1.1 20"), let end = answer.firstRange(of: "\r\n\r\n") else {
            throw DemoFailure("\(method) \(path) was answered with \(answer.prefix(200))")
        }
        return String(answer[end.upperBound...])
    }
}
