import CInstruments
import Foundation

/// One connection to a JSON-RPC server, for requests that are not timed.
final class RpcConnection {
    let descriptor: Int32
    private var received: [UInt8] = []
    private var lastID = 0

    init(_ socket: String) throws {
        descriptor = instruments_connect(socket)
        if descriptor < 0 { try check(-descriptor, "connecting to \(socket)") }
    }

    deinit { close(descriptor) }

    /// Sends a request and returns the result. Throws an error of the server.
    @discardableResult
    func call(_ method: String, _ parameters: [String: Any]? = nil) throws -> Any {
        try send(method, parameters)
        return try answer(to: method)
    }

    /// Sends a request without waiting for the answer.
    func send(_ method: String, _ parameters: [String: Any]? = nil) throws {
        let bytes = try request(method, parameters)
        guard write(descriptor, bytes, bytes.count) == bytes.count else { throw Trouble("\(method): cannot write") }
    }

    /// Returns a request with the next id as a line.
    func request(_ method: String, _ parameters: [String: Any]? = nil) throws -> [UInt8] {
        lastID += 1
        var message: [String: Any] = ["jsonrpc": "2.0", "id": lastID, "method": method]
        if let parameters { message["params"] = parameters }
        return Array(try JSONSerialization.data(withJSONObject: message)) + [0x0A]
    }

    /// Returns the answer to the last request.
    func answer(to method: String) throws -> Any {
        while true {
            let message = try Document(try readLine())
            guard message.members["id"] as? Int == lastID else { continue }
            guard let result = message.members["result"] else {
                throw Trouble("\(method): \(message.members["error"] ?? "no result")")
            }
            return result
        }
    }

    private func readLine() throws -> String {
        while true {
            if let end = received.firstIndex(of: 0x0A) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw Trouble("the server closed the connection, or gave no answer in time") }
            received += buffer[..<count]
        }
    }
}
