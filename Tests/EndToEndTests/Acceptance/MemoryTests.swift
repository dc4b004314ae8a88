import Foundation
import JunctionTesting
import Testing

/// Tests that freed memory contains no secret, and that memory in use contains each secret no more often than needed.
@Suite(.enabled(if: MemoryScan.isPossible, "Only root can look into the daemon's memory"))
struct MemoryTests {
    /// Repeats a measurement, with one request between two attempts, until it fits. Returns the last value if it never
    /// fits.
    private func settled<Value>(
        _ client: RawClient,
        _ look: () throws -> Value,
        until isRight: (Value) -> Bool
    ) throws -> Value {
        for _ in 0..<200 {
            let value = try look()
            if isRight(value) { return value }
            try client.call("session.status")
        }
        return try look()
    }

    @Test(
        "no secret outlives its use, in memory in use or given back",
        arguments: [[:], ["MALLOC_ARENA_MAX": "1"], ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"]]
    )
    func story(allocator: [String: String]) throws {
        let installation = try Installation(accessTokenLifetime: 3_600, rotationGrace: 30)
        try installation.startDaemon(allocator)
        let memory = MemoryScan(process: try #require(installation.daemon?.identifier))
        let client = try installation.connect()
        let user = try installation.cloud.makeUser()
        let token = try installation.cloud.signInToken(for: user)
        // Search for the ends, because an incomplete erasure overwrites only the beginning.
        let credential = [String(token.suffix(64)), String(try Cloud.jwt(of: token).suffix(64))]

        try client.call("session.signIn", ["scheme": "signInToken", "token": token])
        #expect(
            try settled(client, { try memory.count(of: credential) }, until: { $0 == [0, 0] }) == [0, 0],
            "The credential of a sign-in is there after it"
        )

        let batch = (0..<40).map { #"{"jsonrpc":"2.0","id":\#(1_000 + $0),"method":"token.get"}"# }
        client.send("[\(batch.joined(separator: ","))]")
        let answers = try #require(try client.json() as? [Object])
        let first = try #require((answers.first?["result"] as? Object)?["accessToken"] as? String)
        #expect(answers.count == 40)
        // One copy belongs to the session, one to the prepared answer for the next caller.
        let copies = try settled(client, { try memory.count(of: [first])[0] }, until: { $0 <= 2 })
        #expect((1...2).contains(copies), "The search finds what is in use, and nothing more")

        try client.call("session.renew")
        let second = try #require(try installation.token())
        try client.call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])
        #expect(try settled(client, { try memory.count(of: [first]) }, until: { $0 == [0] }) == [0])
        let refreshTokens = try settled(client, { try memory.count(ofTokens: "rt_") }, until: { $0 == 1 })
        #expect(refreshTokens == 1)

        try client.call("session.signOut")
        let left = try settled(client, { try memory.count(of: [first, second]) }, until: { $0 == [0, 0] })
        #expect(left == [0, 0], "An access token is there after the sign-out")
        let leftToRenew = try settled(client, { try memory.count(ofTokens: "rt_") }, until: { $0 == 0 })
        #expect(leftToRenew == 0)
    }

    @Test(arguments: [false, true])
    func `a bootstrap credential is not copied, even while it waits for a retry`(
        isWaiting: Bool
    ) throws {
        let installation = try Installation()
        let credentials = try Credentials(installation)
        let user = try installation.cloud.makeUser()
        let token = try installation.cloud.signInToken(for: user)
        try credentials.write(Data("\(token)\n".utf8), to: "signInToken")
        if isWaiting {
            try installation.cloud.fault(["match": "/v1/", "status": 503, "headers": ["Retry-After": "3600"]])
        }
        // Bind symbols at start, as in the release. Lazy binding saves all vector registers on the stack, and a
        // register may contain the end of the last copied text.
        try installation.startDaemon(["LD_BIND_NOW": "1"])
        let daemon = try #require(installation.daemon)
        if isWaiting {
            try daemon.awaitError("it is tried again")
        } else {
            try installation.awaitSnapshot { $0.state == "established" }
        }

        let memory = MemoryScan(process: daemon.identifier)
        let client = try installation.connect()
        let secrets = [String(token.suffix(64)), String(try Cloud.jwt(of: token).suffix(64))]
        #expect(try settled(client, { try memory.count(of: secrets) }, until: { $0 == [0, 0] }) == [0, 0])
    }
}
