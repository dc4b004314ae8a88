import JunctionProtocol
import JunctionTesting
import Testing

@testable import junctionctl

/// A device sign-in, as the waiting program sees it.
struct ApprovalTests {
    private let now = Timestamp("2026-11-21T06:20:34Z")!

    private func codes(_ user: String? = "WDJB-MJHT", complete: String? = nil) -> Snapshot.Authorization {
        Snapshot.Authorization(
            userCode: user.map { SecretText($0) },
            verificationUri: user == nil ? nil : "https://id.example/device",
            verificationUriComplete: complete.map { SecretText($0) },
            expiresAt: Timestamp("2026-11-21T06:30:00Z")!
        )
    }

    /// No user is signed in, and a device sign-in waits for approval.
    private var begun: Snapshot {
        Snapshot(
            revision: 3,
            changedAt: now,
            state: .establishing,
            provider: "oauth",
            authorization: codes(),
            storage: .init(sealedWith: "file", durable: true, status: .ok)
        )
    }

    private func over(_ words: String? = nil) -> Snapshot {
        var snapshot = begun
        snapshot.authorization = nil
        snapshot.state = .notLoggedIn
        snapshot.renewal.lastError = words
        return snapshot
    }

    private func signedIn(scheme: String = "device", token generation: UInt64 = 1) -> Snapshot {
        var snapshot = over()
        snapshot.state = .established
        snapshot.flags = [.configured, .signedIn]
        snapshot.scheme = scheme
        snapshot.userId = "anna"
        snapshot.accessToken = .init(issuedAt: now, expiresAt: .never, generation: generation)
        return snapshot
    }

    /// Returns how the sign-in has ended.
    private func failure(of begun: Snapshot, in snapshot: Snapshot) throws -> CommandFailure {
        guard case .ended(let failure) = ApprovalProgress(of: begun, in: snapshot) else {
            throw TestFailure(description: "It has not ended")
        }
        return failure
    }

    // MARK: What has become of it

    @Test func `an approval stays pending while there are codes, also after a network error or a clock change`() {
        var later = begun
        later.revision = 1
        later.renewal.lastError = "no route to host"
        later.authorization?.expiresAt = .never

        #expect(ApprovalProgress(of: begun, in: later) == .awaited(until: later.authorization!))
    }

    @Test func `an approval stays pending for a caller that may not see the codes`() {
        var mine = begun
        mine.authorization = codes(nil)

        #expect(ApprovalProgress(of: begun, in: mine) == .awaited(until: mine.authorization!))
        #expect(ApprovalProgress(of: mine, in: begun) == .awaited(until: begun.authorization!))
    }

    @Test func `after the approval the sign-in is finishing and then approved`() {
        var finishing = over()
        finishing.state = .establishing

        #expect(ApprovalProgress(of: begun, in: finishing) == .finishing)
        #expect(ApprovalProgress(of: begun, in: signedIn()) == .approved)
    }

    @Test func `a denied sign-in ends with the daemon's message`() throws {
        let failure = try failure(of: begun, in: over("The sign-in was denied"))

        #expect(failure.what == "The sign-in was denied")
        #expect(failure.kind == "invalidCredential")
        #expect(failure.status == .refused)
    }

    @Test func `a sign-out ends the pending sign-in`() throws {
        let failure = try failure(of: begun, in: over())

        #expect(failure.kind == "notSignedIn" && failure.status == .notSignedIn)
    }

    @Test(arguments: [nil, "Somebody has signed in by other means meanwhile"])
    func `a sign-in by another scheme ends the pending sign-in`(words: String?) throws {
        var other = signedIn(scheme: "refreshToken")
        other.renewal.lastError = words

        let failure = try failure(of: begun, in: other)

        #expect(failure.what == words ?? "somebody has signed in by other means meanwhile: anna")
    }

    @Test func `other codes end the pending sign-in`() throws {
        var other = begun
        other.authorization = codes("OTHE-RONE")

        let failure = try failure(of: begun, in: other)

        #expect(failure.what.contains("another one"))
    }

    @Test func `in an existing session, only a new token counts as approved`() throws {
        var pending = signedIn(token: 7)
        pending.flags.append(.pendingReauthentication)
        pending.authorization = codes()
        var denied = pending
        denied.authorization = nil
        denied.renewal.lastError = "The sign-in was denied"

        #expect(ApprovalProgress(of: pending, in: pending) == .awaited(until: codes()))
        #expect(ApprovalProgress(of: pending, in: signedIn(token: 8)) == .approved)
        let failure = try failure(of: pending, in: denied)
        #expect(failure.what == "The sign-in was denied")
    }

    // MARK: What people read

    @Test func `the instructions have the address and the code`() {
        #expect(
            ApprovalText(codes(), now: now).instructions == """
                Open   https://id.example/device
                Enter  WDJB-MJHT
                """
        )
        #expect(
            ApprovalText(codes(complete: "https://id.example/device?user_code=WDJB-MJHT"), now: now).instructions == """
                Open   https://id.example/device
                Enter  WDJB-MJHT
                or open https://id.example/device?user_code=WDJB-MJHT
                """
        )
    }

    @Test func `control characters in a code are escaped`() {
        let instructions = ApprovalText(codes("A\u{1B}[2JB\nC"), now: now).instructions

        #expect(instructions?.hasSuffix("\nEnter  A\\u001b[2JB C") == true)
    }

    @Test func `a caller that may not see the codes gets no instructions`() {
        #expect(ApprovalText(codes(nil), now: now).instructions == nil)
    }

    @Test func `the progress line has the remaining time`() {
        #expect(
            ApprovalText(codes(), now: now).waiting
                == "waiting for the approval, 9 min left; ^C leaves the sign-in running"
        )
        #expect(ApprovalText(codes(), now: .never).waiting.contains(" 0 s left"))
    }

    @Test func `status shows a pending sign-in, with the codes if the caller may see them`() {
        var mine = begun
        mine.authorization = codes(nil)

        #expect(
            SnapshotText(begun, now: now).paragraph == """
                state     establishing: signing in
                provider  oauth
                sign-in   awaiting approval: enter WDJB-MJHT at https://id.example/device, 9 min left
                storage   sealed with file
                """
        )
        #expect(SnapshotText(mine, now: now).paragraph.contains("sign-in   awaiting approval, 9 min left\n"))
    }

    @Test func `the line of a state does not have the code`() {
        let line = SnapshotText(begun, now: now).line

        #expect(line == "2026-11-21T06:20:34Z establishing authorization-until=2026-11-21T06:30:00Z (in 9 min)")
    }

    // MARK: The picture

    @Test func `the picture has the complete address, or else the plain one`() {
        let complete = "https://id.example/device?user_code=WDJB-MJHT"

        #expect(QRPicture(of: codes(complete: complete))?.content == SecretText(complete))
        #expect(QRPicture(of: codes())?.content == SecretText("https://id.example/device"))
        #expect(QRPicture(of: codes(nil))?.content == nil)
    }

    @Test(.enabled(if: Program.path(of: "qrencode") != nil, "qrencode is not installed"))
    func `the picture is drawn in half blocks`() throws {
        let picture = try #require(QRPicture(of: codes())).drawn().revealed()

        #expect(picture.contains("█") && picture.contains("▀") && picture.contains("▄"))
    }
}
