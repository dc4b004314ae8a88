import Foundation
import JunctionJSON
import JunctionTesting
import NIOCore
import Testing

@testable import JunctionServer

/// The encoded answer to `token.get` that the server keeps, and many calls in a row.
struct PreparedAnswerTests {
    @Test func `a token is not served while the wall clock is more than a second behind the record`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let first = try client.result(of: "token.get").text

        server.clock.stepWall(by: .milliseconds(-1_000))
        #expect(try client.result(of: "token.get").text == first)
        #expect(server.provider.renewalCalls == 0)

        server.clock.stepWall(by: .milliseconds(-1))
        #expect(try client.result(of: "token.get").text != first)
        #expect(server.provider.renewalCalls == 1)
    }

    @Test func `a token is not served from its expiry on, to the millisecond`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let first = try client.result(of: "token.get").text

        server.clock.advance(by: .milliseconds(3_599_999))
        #expect(try client.result(of: "token.get").text == first)
        server.clock.advance(by: .milliseconds(1))
        #expect(try client.result(of: "token.get").text != first)
    }

    @Test func `answers that the kernel does not take at once arrive in the order of the calls`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let count = 10_000
        let lines = (0..<count).map { number in
            let method = number % 3 == 0 ? "session.status" : "token.get"
            return #"{"jsonrpc":"2.0","id":\#(number),"method":"\#(method)"}"# + "\n"
        }
        let bytes = Array(lines.joined().utf8)
        // The test does not read the answers to these yet.
        let sent = client.socket.sendWhatFits(bytes)
        let sending = Thread { try? client.send(Array(bytes[sent...])) }

        for number in 0..<count {
            let answer = try client.receiveValue()
            #expect(answer["id"]?.integer == Int64(number))
            #expect(answer["result"]?[number % 3 == 0 ? "state" : "accessToken"] != nil)
        }
        sending.join()
    }
}
