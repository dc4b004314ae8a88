import Glibc
import JunctionClient
import JunctionProtocol
import JunctionTesting
import Testing

@testable import junctionctl

/// Requests to the loopback port of the browser sign-in.
struct RedirectTests {
    private func redirect(_ request: String) -> Redirect {
        Array(request.utf8).withUnsafeBytes { Redirect(reading: $0, state: SecretText("s-1")) }
    }

    private func page(_ target: String) -> Redirect {
        redirect("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nAccept: */*\r\n\r\n")
    }

    @Test(arguments: [
        "/callback?code=c%2F1+2&state=s-1", "/callback?state=s%2D1&code=c%2f1%202",
        "/callback?iss=https%3A%2F%2Fid&code=c/1+2&scope=&x&state=s-1&&session_state=1",
    ])
    func `a code with the right state is accepted`(target: String) {
        #expect(page(target) == .code(SecretText("c/1 2")))
    }

    @Test func `a refusal has the provider's error and description`() {
        #expect(page("/callback?error=access_denied&state=s-1") == .refused("access_denied"))
        #expect(
            page("/callback?error=access_denied&error_description=The+user+said+no&state=s-1")
                == .refused("access_denied: The user said no")
        )
    }

    @Test func `the description of a refusal is cut to 200 characters`() {
        let words = String(repeating: "x", count: 1000)

        guard case .refused(let shown) = page("/callback?error=e&error_description=\(words)&state=s-1") else {
            Issue.record("That is no refusal")
            return
        }

        #expect(shown == "e: " + words.prefix(200))
    }

    @Test(arguments: [
        "/callback?code=c&state=other", "/callback?code=c", "/callback?code=c&state=", "/callback",
        "/callback?error=access_denied", "/callback?error=access_denied&state=s-2", "/callback?code=c&State=s-1",
    ])
    func `a redirect with another state is refused`(target: String) {
        #expect([.foreign(.otherState), .foreign(.unreadable)].contains(page(target)))
    }

    @Test(arguments: [
        "/callback?code=c&code=d&state=s-1", "/callback?code=c&state=s-1&state=s-1", "/callback?code=%zz&state=s-1",
        "/callback?code=%2&state=s-1", "/callback?code=&state=s-1", "/callback?state=s-1",
    ])
    func `a missing, repeated or badly escaped parameter is refused`(target: String) {
        #expect(page(target) == .foreign(.unreadable))
    }

    @Test(arguments: ["/", "/callback/", "/callbac", "/favicon.ico", "/x/callback?code=c&state=s-1", "*", ""])
    func `other paths are refused`(target: String) {
        #expect([.foreign(.otherPath), .foreign(.unreadable)].contains(page(target)))
    }

    @Test func `the start path is recognised`() {
        #expect(page("/start") == .start)
        #expect(page("/start?x") == .start)
        #expect(redirect("POST /start HTTP/1.1\r\n\r\n") == .foreign(.otherMethod))
    }

    @Test func `methods other than GET are refused`() {
        #expect(redirect("POST /callback?code=c&state=s-1 HTTP/1.1\r\n\r\n") == .foreign(.otherMethod))
        #expect(redirect("HEAD /callback?code=c&state=s-1 HTTP/1.1\r\n\r\n") == .foreign(.otherMethod))
    }

    @Test(arguments: [
        "\r\n\r\n", "GET /callback\r\n\r\n", "GET /callback?code=c&state=s-1\r\n\r\n",
        "GET  /callback HTTP/1.1\r\n\r\n",
        "\u{16}\u{3}\u{1}\r\n\r\n", "GET /callback?code=c&state=s-1 HTTP/2\r\n\r\n", "GET /callback x HTTP/1.1\n\n",
    ])
    func `a malformed request is unreadable`(request: String) {
        #expect(redirect(request) == .foreign(.unreadable))
    }

    @Test func `a head that is cut at any byte is incomplete`() {
        let request = Array("GET /callback?code=c&state=s-1 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)

        for length in 0..<request.count {
            let cut = request[..<length].withUnsafeBytes { Redirect(reading: $0, state: SecretText("s-1")) }
            #expect(cut == .incomplete, "after \(length) bytes")
        }
        #expect(redirect(String(decoding: request, as: UTF8.self)) == .code(SecretText("c")))
    }

    // MARK: Over real sockets

    private let wanted = "GET /callback?code=c&state=s-1 HTTP/1.1\r\n\r\n"

    @Test func `the browser's redirect returns the code and the browser gets a page`() throws {
        let listener = try RedirectListener()
        let browser = try listener.connect()
        try browser.send(wanted)

        let code = try listener.code(for: SecretText("s-1"), from: nil, by: .never)

        #expect(code == SecretText("c"))
        let answer = try browser.answer()
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains("You may close this window."))
        #expect(answer.contains("\r\nReferrer-Policy: no-referrer\r\n"))
    }

    @Test func `other connections are answered and neither end nor delay the wait`() throws {
        let listener = try RedirectListener()
        // More connections than there is space for. They send nothing or only a part of a request.
        let idle = try (0..<12).map { number in
            let caller = try listener.connect()
            if number.isMultiple(of: 2) { try caller.send("GET /callback?code=") }
            return caller
        }
        let others = try [
            "GET /favicon.ico HTTP/1.1\r\n\r\n", "GET /callback?code=evil&state=guessed HTTP/1.1\r\n\r\n",
            "what?\r\n\r\n",
            "GET /" + String(repeating: "x", count: 15 << 10) + " HTTP/1.1\r\n\r\n",
        ].map { request in
            let caller = try listener.connect()
            try caller.send(request)
            return caller
        }
        let gone = try listener.connect()
        gone.finishSending()
        let browser = try listener.connect()
        try browser.send(wanted)

        let code = try listener.code(for: SecretText("s-1"), from: nil, by: .never)

        #expect(code == SecretText("c"))
        #expect(
            try others.map { String(try $0.answer().prefix(12)) } == [
                "HTTP/1.1 404", "HTTP/1.1 400", "HTTP/1.1 400", "HTTP/1.1 404",
            ]
        )
        withExtendedLifetime(idle) {}
    }

    @Test func `an endless head does not delay the wait`() throws {
        let listener = try RedirectListener()
        let endless = try listener.connect()
        try endless.send("GET /callback HTTP/1.1\r\nX: " + String(repeating: "x", count: 16 << 10))
        let browser = try listener.connect()
        try browser.send(wanted)

        #expect(try listener.code(for: SecretText("s-1"), from: nil, by: .never) == SecretText("c"))
    }

    @Test func `a refusal ends the wait`() throws {
        let listener = try RedirectListener()
        let browser = try listener.connect()
        try browser.send("GET /callback?error=access_denied&state=s-1 HTTP/1.1\r\n\r\n")

        let error = #expect(throws: CommandFailure.self) {
            try listener.code(for: SecretText("s-1"), from: nil, by: .never)
        }

        #expect(error?.kind == "invalidCredential")
        #expect(error?.status == .refused)
        #expect(error?.what.contains("access_denied") == true)
        #expect(try browser.answer().contains("The terminal says why."))
    }

    @Test(arguments: [false, true])
    func `an opened browser is redirected to the provider's page`(overIPv6: Bool) throws {
        let listener = try RedirectListener()
        #expect(listener.startAddress.hasSuffix("/start"))
        let first = try listener.connect(overIPv6: overIPv6)
        try first.send("GET /start HTTP/1.1\r\nHost: x\r\n\r\n")
        let second = try listener.connect(overIPv6: overIPv6)
        try second.send(wanted)

        let code = try listener.code(for: SecretText("s-1"), from: "https://id.example/authorize?a=b&c=d", by: .never)

        #expect(code == SecretText("c"))
        let answer = try first.answer()
        #expect(answer.hasPrefix("HTTP/1.1 302 Found\r\n"))
        #expect(answer.contains("\r\nLocation: https://id.example/authorize?a=b&c=d\r\n"))
        #expect(answer.contains("\r\nReferrer-Policy: no-referrer\r\n"))
    }

    @Test func `without a provider's page the start path is not found`() throws {
        let listener = try RedirectListener()
        let first = try listener.connect()
        try first.send("GET /start HTTP/1.1\r\n\r\n")
        let second = try listener.connect()
        try second.send(wanted)

        _ = try listener.code(for: SecretText("s-1"), from: nil, by: .never)

        #expect(try first.answer().hasPrefix("HTTP/1.1 404 "))
    }

    @Test func `the wait ends at the deadline`() throws {
        let listener = try RedirectListener()
        let idle = try listener.connect()

        let error = #expect(throws: CommandFailure.self) {
            try listener.code(for: SecretText("s-1"), from: nil, by: .after(.milliseconds(20)))
        }

        #expect(error?.kind == "timedOut")
        #expect(error?.status == .temporary)
        withExtendedLifetime(idle) {}
    }

    @Test func `the listener is bound to loopback`() throws {
        #expect(try RedirectListener().address.hasPrefix("http://127.0.0.1:"))
    }
}

extension RedirectListener {
    /// Connects to the port. An IPv6 socket connects over IPv4, as some browsers do.
    fileprivate func connect(overIPv6: Bool = false) throws -> TestSocket {
        let port = try #require(address.split(separator: ":").last?.split(separator: "/").first)
        return try TestSocket(.loopback(port: #require(UInt16(port)), overIPv6: overIPv6))
    }
}

extension TestSocket {
    /// Returns all bytes until the other end closes.
    fileprivate func answer() throws -> String { String(decoding: try lines.rest(), as: UTF8.self) }
}
