import Foundation
import Testing

/// Tests of simultaneous calls of independent clients.
@Suite struct RaceTests {
    @Test func `simultaneous sign-in and sign-out are answered truthfully`() throws {
        let (installation, credential) = try prepared()
        let (one, other) = try (installation.connect(), installation.connect())

        for round in 0..<60 {
            let signIn = try one.request("session.signIn", credential)
            // More of these calls send the sign-out later in the exchange.
            for _ in 0..<(round % 6) { try other.call("daemon.info") }
            let signOut = try other.request("session.signOut")
            let answer = try one.envelope(of: signIn)
            let left = try other.answer(to: signOut)
            let isSignedIn = (answer["result"] as? Object)?.state == "established"
            let refusal = (answer["error"] as? Object).map(RemoteError.init)
            let status = try installation.status()

            #expect(["notLoggedIn", "establishing"].contains(left.state))
            #expect(isSignedIn || refusal?.kind == "notSignedIn", "\(refusal?.description ?? "")")
            // A session may exist only if the sign-in succeeded.
            #expect(status.state == "notLoggedIn" || (status.state == "established" && isSignedIn))
            try installation.signOut()
        }

        try installation.restartDaemon()
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `memory and disk agree after many sign-ins and sign-outs`() throws {
        let (installation, credential) = try prepared()

        for _ in 0..<3 {
            let clients = try (0..<4).map { _ in try installation.connect() }
            for _ in 0..<10 {
                let signIns = try clients[...1].map { try ($0, $0.request("session.signIn", credential)) }
                let signOuts = try clients[2...].map { try ($0, $0.request("session.signOut")) }
                for (client, request) in signOuts { try client.answer(to: request) }
                for (client, request) in signIns { _ = try client.envelope(of: request) }
            }
            let last = try installation.status()
            try installation.restartDaemon()
            let restored = try installation.status()
            #expect(["established", "notLoggedIn"].contains(last.state))
            #expect(restored.state == last.state)
            #expect(restored.generation == last.generation)
        }
    }

    @Test func `a sign-in received before a sign-out always fails, and one received after it always succeeds`() throws {
        let (installation, credential) = try prepared()
        let client = try installation.connect()

        for _ in 0..<20 {
            _ = try client.request("session.signIn", credential)
            let signOut = try client.request("session.signOut")
            try client.answer(to: signOut)
            #expect(try client.call("session.status").state == "notLoggedIn")
            _ = try client.request("session.signOut")
            let signIn = try client.request("session.signIn", credential)
            #expect(try client.answer(to: signIn).state == "established")
        }
    }

    /// Creates an installation and a user whose token can be exchanged many times.
    private func prepared() throws -> (Installation, credential: Object) {
        let installation = try Installation.started(configuration: "[limits]\nproviderCallsPerMinute = 10000")
        try installation.cloud.change(["singleUseSignInTokens": false])
        return (installation, try installation.cloud.credential(for: installation.cloud.makeUser()))
    }
}
