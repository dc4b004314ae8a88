import Foundation
import JunctionTesting

/// HTTP requests to the sandbox on plain sockets, one connection for each request. It does not use the project's
/// client.
struct CloudHTTP {
    func send(
        _ method: String,
        _ url: String,
        _ path: String,
        _ body: Object?,
        headers: [String]
    ) throws -> (status: Int, body: Object) {
        let bytes = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
        let answer = try exchange(method, url, path, bytes, "application/json", headers: headers)
        return (answer.status, try JSONSerialization.jsonObject(with: Data(answer.body)) as? Object ?? [:])
    }

    /// Posts a form as a browser does, and returns the status and the redirect.
    func post(form: [String: String], _ url: String, _ path: String) throws -> (status: Int, redirect: String?) {
        var encoded = URLComponents()
        encoded.queryItems = form.map { URLQueryItem(name: $0, value: $1) }
        let body = (encoded.percentEncodedQuery ?? "").replacing("+", with: "%2B")
        let answer = try exchange("POST", url, path, Data(body.utf8), "application/x-www-form-urlencoded", headers: [])
        return (answer.status, answer.header("location"))
    }

    private func exchange(
        _ method: String,
        _ url: String,
        _ path: String,
        _ body: Data,
        _ contentType: String,
        headers: [String]
    ) throws -> HTTPTestClient.Answer {
        let port = url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        let connection = try HTTPTestClient(.loopback(port: port))
        let headers = ["connection: close", "content-type: \(contentType)"] + headers
        try connection.request(method, path, headers: headers, host: "127.0.0.1:\(port)", body: Array(body))
        return try connection.answer()
    }
}
