import JunctionJSON
import JunctionProtocol
import Testing

struct SnapshotFormatTests {
    private let full = Snapshot(
        revision: 17,
        changedAt: Timestamp(milliseconds: 1_795_242_034_000),
        state: .established,
        flags: [.configured, .signedIn, .useSignInToken],
        provider: "junction",
        scheme: "signInToken",
        userId: "u",
        externalUserId: nil,
        teamId: "t",
        environment: "sandbox",
        region: "us",
        accessToken: .init(
            issuedAt: Timestamp(milliseconds: 1_795_242_034_000),
            expiresAt: Timestamp(milliseconds: 1_795_245_634_000),
            generation: 3
        ),
        renewal: .init(phase: .scheduled, notBefore: Timestamp(milliseconds: 1_795_244_000_000), failures: 0),
        termination: nil,
        storage: .init(sealedWith: "host+tpm2", durable: true, status: .ok)
    )

    @Test func `a snapshot has the documented members in the documented order`() {
        #expect(
            written(full) == """
                {"revision":17,"changedAt":"2026-11-21T06:20:34Z","state":"established",\
                "flags":["configured","signedIn","useSignInToken"],"provider":"junction","scheme":"signInToken",\
                "userId":"u","externalUserId":null,"teamId":"t","environment":"sandbox","region":"us",\
                "accessToken":{"issuedAt":"2026-11-21T06:20:34Z","expiresAt":"2026-11-21T07:20:34Z","generation":3},\
                "renewal":{"phase":"scheduled","notBefore":"2026-11-21T06:53:20Z","failures":0,"lastError":null,"needsHandler":false},\
                "termination":null,"authorization":null,"storage":{"sealedWith":"host+tpm2","durable":true,"status":"ok"}}
                """
        )
    }

    @Test func `a storage with a problem reports whether it was opened, and why`() throws {
        var locked = full
        locked.storage = .init(sealedWith: "host", durable: true, status: .locked, readable: false, reason: "No key.")

        #expect(
            written(locked).contains(
                #""storage":{"sealedWith":"host","durable":true,"status":"locked","readable":false,"reason":"No key."}"#
            )
        )
        #expect(try roundTrip(locked) == locked)
    }

    @Test(
        arguments: [
            (.ok, nil, true), (.locked, nil, false), (.damaged, nil, false), (.damaged, true, true),
            (.damaged, false, false), (.unavailable, false, false),
        ] as [(Snapshot.Storage.Status, Bool?, Bool)]
    )
    func `a storage is readable if the daemon reports that or the status is ok`(
        status: Snapshot.Storage.Status,
        readable: Bool?,
        expected: Bool
    ) {
        let storage = Snapshot.Storage(sealedWith: "file", durable: true, status: status, readable: readable)
        #expect(storage.isReadable == expected)
    }

    @Test func `a snapshot is written and read completely`() throws {
        var ended = full
        ended.state = .terminated
        ended.accessToken = nil
        ended.termination = Termination(code: "400312", message: "banned", at: Timestamp(milliseconds: 5))
        ended.renewal = .init(phase: .backingOff, failures: 4, lastError: "no route to host", needsHandler: true)

        var awaiting = full
        awaiting.authorization = .init(
            userCode: SecretText("WDJB-MJHT"),
            verificationUri: "https://id.example.com/device",
            verificationUriComplete: SecretText("https://id.example.com/device?user_code=WDJB-MJHT"),
            expiresAt: Timestamp(milliseconds: 1_795_244_000_000)
        )
        #expect(try roundTrip(awaiting) == awaiting)
        awaiting.authorization = .init(expiresAt: Timestamp(milliseconds: 1_795_244_000_000))
        #expect(try roundTrip(awaiting) == awaiting)
        #expect(try roundTrip(full) == full)
        #expect(try roundTrip(ended) == ended)
        #expect(try roundTrip(SessionChanged.Params(snapshot: full)).snapshot == full)
        for outcome in [IdentifyResult.Outcome.unchanged, .signedIn, .switched, .signedOut] {
            let result = IdentifyResult(outcome: outcome, snapshot: full)
            #expect(try roundTrip(result) == result)
        }
        for action in ReconcileResult.Action.known + [.init(rawValue: "newer")] {
            let result = ReconcileResult(action: action, snapshot: full)
            #expect(try roundTrip(result) == result)
        }
    }

    @Test func `a renew result contains the whole snapshot, or the state and the times of the token`() throws {
        let whole = RenewResult(full)
        let little = RenewResult(state: full.state, accessToken: full.accessToken)
        #expect(try roundTrip(whole) == whole && whole.snapshot == full)
        #expect(try roundTrip(little) == little && little.snapshot == nil)
        #expect(try roundTrip(RenewResult(state: .tokenExpired, accessToken: nil)).accessToken == nil)
        #expect(throws: WireMismatch.self) { try RenewResult(reading: json(#"{"accessToken":null}"#)) }
    }

    @Test func `unknown words and members of a newer daemon are accepted`() throws {
        let snapshot = try Snapshot(
            reading: json(
                """
                {"revision":1,"changedAt":"2027-01-01T00:00:00Z","state":"hibernating","mood":{"a":[1]},
                 "flags":["signedIn","shiny",7],"provider":"other","renewal":{"phase":"resting","since":1},
                 "storage":{"sealedWith":"moon","durable":false,"status":"fine"}}
                """
            )
        )

        #expect(snapshot.state.rawValue == "hibernating")
        #expect(snapshot.flags.map(\.rawValue) == ["signedIn", "shiny"])
        #expect(snapshot.isSignedIn)
        #expect(snapshot.renewal.phase.rawValue == "resting")
        #expect(snapshot.storage.status.rawValue == "fine")
        #expect(snapshot.userId == nil)
    }

    @Test(
        arguments: [
            ("null", "'snapshot' must be an object"),
            (
                #"{"changedAt":"2027-01-01T00:00:00Z","state":"x","provider":"p"}"#,
                "'snapshot.revision' is missing: it must be a whole number, zero or more"
            ),
            (
                #"{"revision":1,"changedAt":"soon","state":"x","provider":"p"}"#,
                "'snapshot.changedAt' must be a time of RFC 3339, like 2026-11-21T06:20:34Z"
            ),
            (
                #"{"revision":1,"changedAt":"2027-01-01T00:00:00Z","state":5,"provider":"p"}"#,
                "'snapshot.state' must be a string that is not empty"
            ),
            (
                #"{"revision":1,"changedAt":"2027-01-01T00:00:00Z","state":"x","provider":"p","storage":1}"#,
                "'storage' must be an object"
            ),
        ]
    )
    func `an invalid snapshot is refused`(_ text: String, _ complaint: String) throws {
        let mismatch = try #require(throws: WireMismatch.self) { try Snapshot(reading: json(text)) }

        #expect(mismatch.description == complaint)
    }
}
