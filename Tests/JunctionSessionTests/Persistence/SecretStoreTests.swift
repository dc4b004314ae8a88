import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// The secrets that the owner keeps in memory.
struct SecretStoreTests {
    @Test func `equal API keys have one reference, and other secrets have not`() {
        var secretStore = SecretStore()
        func key(_ text: String) -> SessionSecrets { SessionSecrets(apiKey: SharedSecret(text: text)) }
        let first = secretStore.put(.session(key("sk_us_1")))
        #expect(secretStore.put(.session(key("sk_us_1"))) == first)
        #expect(secretStore.put(.session(key("sk_us_2"))) != first)
        #expect(secretStore.put(.session(SessionSecrets(accessToken: SharedSecret(text: "a")))) != first)
        #expect(secretStore.count == 3)
    }

    @Test func `an answer without a reference is erased`() {
        var secretStore = SecretStore()
        let (used, unused) = (secretStore.put(.answer(.renew)), secretStore.put(.answer(.renew)))
        secretStore.keep([used])
        #expect(secretStore.answer(used) != nil)
        #expect(secretStore.answer(unused) == nil)
        #expect(secretStore.count == 1)
    }

    @Test func `after each event only the secrets in use are kept`() {
        let bench = OwnerBench().start().signIn()
        #expect(bench.owner.assumeIsolated { $0.secretStore.count } == 1)
        bench.renew()
        #expect(bench.owner.assumeIsolated { $0.secretStore.count } == 1)
        bench.signOut()
        #expect(bench.owner.assumeIsolated { $0.secretStore.count } == 0)
    }

    @Test func `no secret is in a snapshot or a description`() {
        let bench = OwnerBench().start().signIn()
        let token = SharedSecret(text: "access-alice-1")
        #expect("\(token)" == "‹secret›")
        #expect(!"\(bench.snapshot())".contains("access-alice"))
        #expect(!"\(bench.store.kept as Any)".contains("refresh-alice"))
    }
}
