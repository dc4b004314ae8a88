import JunctionSession
import Testing

struct IdentityTests {
    @Test func `two spellings of an id are one user, and each is kept`() {
        let capital = Identity(userId: "Anna", teamId: "T", environment: "Sandbox", region: "EU")
        let small = Identity(userId: "anna", teamId: "t", environment: "sandbox", region: "eu")

        #expect(capital == small)
        #expect(Set([capital, small]).count == 1)
        #expect(capital.isSameUser(as: small))
        #expect(capital.userId == "anna")
        #expect(capital.spelling == "Anna" && small.spelling == "anna")
    }

    @Test(arguments: [
        Identity(userId: "bert", teamId: "t", environment: "sandbox", region: "eu"),
        Identity(userId: "anna", teamId: "u", environment: "sandbox", region: "eu"),
        Identity(userId: "anna", teamId: "t", environment: "production", region: "eu"),
        Identity(userId: "anna", teamId: "t", environment: "sandbox", region: "us"),
    ])
    func `whatever else differs makes another identity`(other: Identity) {
        #expect(other != Identity(userId: "anna", teamId: "t", environment: "sandbox", region: "eu"))
    }
}
