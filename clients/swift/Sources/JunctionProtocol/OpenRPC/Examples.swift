// The examples of the OpenRPC document. In all of them, the user Alice is signed in with Junction, and there is no
// problem. The secrets are not real.

/// The values that the examples share.
private enum ExampleValues {
    static let user = "5e1cf0e2-0c7a-4b64-9d10-3f1a4a2f7c55"
    static let team = "b1e2cf3d-94ce-4f3f-8f0b-4a1f3e9a6d20"
    static let token = SecretText("example-access-token")

    static let signedIn = Timestamp(milliseconds: 1_795_245_634_000)
    static let renews = Timestamp(milliseconds: 1_795_249_054_000)
    static let expires = Timestamp(milliseconds: 1_795_249_234_000)
    static let asked = Timestamp(milliseconds: 1_795_249_084_000)

    static let established = Snapshot(
        revision: 4,
        changedAt: signedIn,
        state: .established,
        flags: [.configured, .signedIn, .useSignInToken],
        provider: "junction",
        scheme: "signInToken",
        userId: user,
        teamId: team,
        environment: "sandbox",
        region: "us",
        accessToken: .init(issuedAt: signedIn, expiresAt: expires, generation: 1),
        renewal: .init(phase: .scheduled, notBefore: renews),
        storage: .init(sealedWith: "host+tpm2", durable: true, status: .ok)
    )

    static let renewed: Snapshot = {
        var snapshot = established
        snapshot.revision = 6
        snapshot.changedAt = renews
        snapshot.accessToken = .init(
            issuedAt: renews,
            expiresAt: Timestamp(milliseconds: 1_795_252_654_000),
            generation: 2
        )
        snapshot.renewal.notBefore = Timestamp(milliseconds: 1_795_252_474_000)
        return snapshot
    }()

    static let signedOut = Snapshot(
        revision: 5,
        changedAt: renews,
        state: .notLoggedIn,
        provider: "junction",
        storage: .init(sealedWith: "host+tpm2", durable: true, status: .ok)
    )
}

extension SessionStatus {
    package static let examples = [
        MethodExample<Self>("Somebody is signed in", gives: ExampleValues.established),
        MethodExample<Self>("Nobody is signed in", gives: ExampleValues.signedOut),
    ]
}

extension SessionSubscribe {
    package static let examples = [
        MethodExample<Self>("The present state, before any change", Params(), gives: ExampleValues.established),
        MethodExample<Self>(
            "The same, and then only changes of the state",
            Params(changes: .state),
            gives: ExampleValues.established
        ),
    ]
}

extension SessionChanged {
    package static let examples = [
        MethodExample<Self>("The user was signed out", Params(snapshot: ExampleValues.signedOut), gives: nil)
    ]
}

extension SessionUnsubscribe {
    package static let examples = [MethodExample<Self>("No more news", gives: NoAnswer())]
}

extension SessionSignIn {
    package static let examples = [
        MethodExample<Self>(
            "With a Sign-In Token of the app's backend",
            .signInToken(SecretText("example-sign-in-token")),
            gives: ExampleValues.established
        ),
        MethodExample<Self>(
            "With a link code",
            .linkCode(SecretText("example-link-code")),
            gives: ExampleValues.established
        ),
    ]
}

extension SessionSignOut {
    package static let examples = [MethodExample<Self>("Nobody is signed in then", gives: ExampleValues.signedOut)]
}

extension SessionIdentify {
    package static let examples = [
        MethodExample<Self>(
            "Another user than before",
            Params(externalUserId: "alice"),
            gives: IdentifyResult(
                outcome: .switched,
                snapshot: {
                    var snapshot = ExampleValues.established
                    snapshot.externalUserId = "alice"
                    return snapshot
                }()
            )
        ),
        MethodExample<Self>(
            "Nobody, which is a sign-out",
            Params(externalUserId: nil),
            gives: IdentifyResult(outcome: .signedOut, snapshot: ExampleValues.signedOut)
        ),
    ]
}

extension SessionReconcile {
    package static let examples = [
        MethodExample<Self>(
            "The user that is signed in",
            Params(userId: ExampleValues.user),
            gives: ReconcileResult(action: .none, snapshot: ExampleValues.established)
        ),
        MethodExample<Self>(
            "Nobody",
            Params(userId: nil),
            gives: ReconcileResult(action: .signOut, snapshot: ExampleValues.established)
        ),
    ]
}

extension SessionRenew {
    package static let examples = [
        MethodExample<Self>("The state with the next token", gives: RenewResult(ExampleValues.renewed)),
        MethodExample<Self>(
            "What a caller without the capability status sees of it",
            gives: RenewResult(state: ExampleValues.renewed.state, accessToken: ExampleValues.renewed.accessToken)
        ),
    ]
}

extension SessionAuthorizationPage {
    package static let examples = [
        MethodExample<Self>(
            "For a browser on this machine",
            Params(
                redirectUri: "http://127.0.0.1:49152/callback",
                state: "af0ifjsldkj",
                codeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
            ),
            gives: Answer(
                url: "https://login.example.com/authorize?response_type=code&client_id=app&state=af0ifjsldkj"
                    + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A49152%2Fcallback&code_challenge_method=S256"
                    + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
            )
        )
    ]
}

extension TokenGet {
    package static let examples = [
        MethodExample<Self>(
            "A token that lives for another minute",
            Params(minimumValidity: 60),
            gives: AccessToken(
                accessToken: ExampleValues.token,
                expiresAt: ExampleValues.expires,
                userId: ExampleValues.user
            )
        )
    ]
}

extension ApiCall {
    package static let examples = [
        MethodExample<Self>(
            "The signed-in user",
            ApiRequest(path: "/v2/user/{userId}"),
            gives: ApiAnswer(
                status: 200,
                headers: ["content-type": "application/json"],
                body: Array(#"{"user_id":"\#(ExampleValues.user)","client_user_id":"alice"}"#.utf8)
            )
        )
    ]
}

extension HandlerRegister {
    package static let examples = [
        MethodExample<Self>("This connection is asked for sign-ins only", gives: Answer(mode: "automatic"))
    ]
}

extension HandlerUnregister {
    package static let examples = [MethodExample<Self>("It is not asked any more", gives: NoAnswer())]
}

extension SessionWillRenewAccessToken {
    package static let examples = [
        MethodExample<Self>(
            "The app's backend has a token",
            RenewalRequest(
                renewalId: "7",
                reason: .expiring,
                userId: "alice",
                expiresAt: ExampleValues.expires,
                deadline: ExampleValues.asked
            ),
            gives: .renewWithAuthToken(SecretText("example-auth-token"))
        ),
        MethodExample<Self>(
            "It has none now",
            RenewalRequest(
                renewalId: "8",
                reason: .missing,
                userId: "alice",
                expiresAt: nil,
                deadline: ExampleValues.asked
            ),
            gives: .unableToRetrieveAuthToken
        ),
    ]
}

extension SessionAuthenticate {
    package static let examples = [
        MethodExample<Self>(
            "A Sign-In Token for the user that is to be signed in",
            Params(externalUserId: "alice"),
            gives: .signInToken(SecretText("example-sign-in-token"))
        )
    ]
}

extension DaemonInfo {
    package static let examples = [
        MethodExample<Self>(
            "A daemon that has run for an hour",
            gives: DaemonDescription(
                version: "0.1.0",
                provider: "junction",
                pid: 4_711,
                startedAt: ExampleValues.signedIn,
                uptime: 3_600
            )
        )
    ]
}

extension DaemonReload {
    package static let examples = [
        MethodExample<Self>(
            "Everything that was changed is in force, but for the address of a server",
            gives: Answer(pendingRestart: ["junction.authUrl"])
        )
    ]
}

extension DaemonMetrics {
    package static let examples = [
        MethodExample<Self>(
            "The first of them",
            gives: Answer(
                text: """
                    # HELP junctiond_build_info Always 1; the labels say what is running.
                    # TYPE junctiond_build_info gauge
                    junctiond_build_info{version="0.1.0",provider="junction"} 1

                    """
            )
        )
    ]
}

extension DaemonDiagnose {
    package static let examples = [
        MethodExample<Self>(
            "Something can be better",
            gives: Diagnosis(checks: [
                .init(name: "configuration", verdict: .ok, detail: "/etc/junctiond/junctiond.toml is in force"),
                .init(
                    name: "clock",
                    verdict: .note,
                    detail: "the provider's clock is 40 s ahead of this one",
                    remedy: "have the clock set by the network (timedatectl)"
                ),
            ])
        )
    ]
}

extension AccessWhoami {
    package static let examples = [
        MethodExample<Self>(
            "A member of the socket's group",
            gives: CallerDescription(
                user: 1_000,
                process: 4_712,
                unit: "health-sync.service",
                capabilities: Capability.allCases.filter { $0 != .manage }.map { .init(rawValue: $0.rawValue) },
                basis: .socketGroup
            )
        )
    ]
}

extension RpcDiscover {
    /// None: the document cannot contain itself.
    package static let examples: [MethodExample<Self>] = []
}
