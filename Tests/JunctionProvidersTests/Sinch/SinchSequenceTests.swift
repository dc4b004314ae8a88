import JunctionSecret
import JunctionSession
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionProviders

/// The legacy scheme: each sequence is used once, across callers and sessions.
struct SinchSequenceTests {
    private static let anna = Identity(userId: "Anna")

    private func credential(_ sequence: UInt64, for user: String = "Anna") -> Credential {
        .registrationSignature(userId: user, signature: Sinch.signature, sequence: sequence)
    }

    private func signIn(_ sinch: SinchProvider, _ sequence: UInt64, for user: String = "Anna") async -> ExchangeFailure?
    {
        await sinch.exchangeFailure(credential(sequence, for: user))
    }

    private func renew(_ sinch: SinchProvider, _ sequence: UInt64) async -> RenewalFailure? {
        await sinch.renewalFailure(
            Self.anna,
            with: Sinch.secrets(Sinch.registration("i-1")),
            using: .signature(Sinch.signature, sequence: sequence)
        )
    }

    private func spent(_ sequence: UInt64, last: UInt64) -> String {
        "The sequence \(sequence) is not larger than the last one that was used on this device, \(last): get a signature "
            + "with a larger sequence from your backend"
    }

    @Test func `a sequence that is not larger than the last is refused without a request`()
        async throws
    {
        try await Stage.play([Sinch.granted("i-1"), Sinch.granted("i-1")]) { stage in
            let memory = InMemoryProviderMemory()
            let sinch = try stage.sinch(remembering: memory)
            #expect(await signIn(sinch, 41) == nil)

            for sequence in [0, 40, 41] as [UInt64] {
                #expect(await signIn(sinch, sequence) == .refused(spent(sequence, last: 41)))
                #expect(await renew(sinch, sequence) == .answerRefused(spent(sequence, last: 41)))
            }
            #expect(stage.server.requests.count == 1)

            #expect(await renew(sinch, 42) == nil)
            let restarted = try stage.sinch(remembering: memory)
            #expect(await signIn(restarted, 42) == .refused(spent(42, last: 42)))
            #expect(stage.server.requests.count == 2)
        }
    }

    @Test func `the sequence is marked as used before the request leaves`() async throws {
        try await Stage.play([Sinch.granted("i-1")]) { stage in
            let memory = InMemoryProviderMemory()
            let requests = Mutex<[Int]>([])
            memory.onClaim { [server = stage.server] in requests.withLock { $0.append(server.requests.count) } }

            let sinch = try stage.sinch(remembering: memory)
            #expect(await signIn(sinch, 1) == nil)

            #expect(requests.withLock(\.self) == [0])
            #expect(memory.claims == [1])
        }
    }

    @Test(
        arguments: [
            .json(401, #"{"errorCode":1104}"#), .answer(500, [], ""), .closeConnection, .json(200, "{}"),
        ] as [ScriptedServer.Step]
    )
    func `a sequence that may have reached the service stays used`(step: ScriptedServer.Step) async throws {
        try await Stage.play([step]) { stage in
            let sinch = try stage.sinch()
            #expect(await signIn(sinch, 7) != nil)
            #expect(await signIn(sinch, 7) == .refused(spent(7, last: 7)))
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test func `a refused signature uses up no sequence`() async throws {
        try await Stage.play([.json(403, #"{"errorCode":40301}"#), Sinch.granted("i-1")]) { stage in
            let sinch = try stage.sinch()
            #expect(await signIn(sinch, .max) != nil)
            #expect(await signIn(sinch, 7) == nil)
            #expect(stage.server.requests.count == 2)
        }
    }

    @Test func `a sequence that was not sent can be used again`() async throws {
        try await Stage.play([.answer(429, [], ""), Sinch.granted("i-1")]) { stage in
            let sinch = try stage.sinch()
            #expect(await signIn(sinch, 7) != nil)
            #expect(await signIn(sinch, 7) == nil)
            #expect(stage.server.requests.count == 2)
        }
        try await Stage.play([]) { stage in
            let memory = InMemoryProviderMemory()
            let sinch = try stage.sinch(remembering: memory)
            try await stage.server.refuse()
            for _ in 0..<2 {
                let why = try #require(await signIn(sinch, 7)?.unavailability)
                #expect(why.message.hasPrefix("Connection refused"))
            }
            #expect(memory.entries.isEmpty)
        }
    }

    @Test func `each user of each application has separate sequences`() async throws {
        let answers = [ScriptedServer.Step](repeating: Sinch.granted("i-1"), count: 3)
        try await Stage.play(answers) { stage in
            let memory = InMemoryProviderMemory()
            let sinch = try stage.sinch(remembering: memory)
            let other = try stage.sinch(SinchApplication(key: "another"), remembering: memory)
            #expect(await signIn(sinch, 7) == nil)
            #expect(await signIn(sinch, 7, for: "bert") == nil)
            #expect(await signIn(other, 7) == nil)
            #expect(stage.server.requests.count == 3)
        }
    }

    @Test func `a registration by token uses no sequence`() async throws {
        try await Stage.play([Sinch.granted("i-1")]) { stage in
            let memory = InMemoryProviderMemory()
            let sinch = try stage.sinch(remembering: memory)
            _ = try await sinch.exchange(.registration(userId: "anna", token: Sinch.token()), expecting: nil)
            #expect(memory.claims.isEmpty)
        }
    }
}
