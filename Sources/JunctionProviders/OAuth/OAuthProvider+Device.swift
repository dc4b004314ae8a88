import JunctionSecret
package import JunctionSession
import JunctionText

/// The device sign-in (RFC 8628): a person approves on another screen.
extension OAuthProvider {
    package func requestDeviceAuthorization(_ credential: Credential) async throws(ExchangeFailure)
        -> DeviceAuthorization
    {
        guard case .device = credential else {
            throw .refused("A credential of the scheme \(credential.scheme.rawValue) awaits no approval")
        }
        await server.prepareOrigins(before: .deviceAuthorization)
        let endpoint = try await mappingUnavailability(
            of: await server.required(.deviceAuthorization, at: nil),
            to: ExchangeFailure.unavailable
        )
        let (answer, sentAt) = try await mappingUnavailability(
            of: await server.post(setup.asked, to: endpoint),
            to: ExchangeFailure.unavailable
        )
        let members = OAuthMembers(answer.body)
        let now = clock.now().wall
        if let error = OAuthError(answer, members) {
            notes.received(error)
            throw .unavailable(answer.unavailability(saying: error, now: now))
        }
        guard answer.isSuccess else { throw .unavailable(answer.unavailability(now: now)) }
        guard let members, var begun = DeviceAuthorization(members, sentAt: sentAt) else {
            throw .unavailable(answer.unreadable("a device code, a user code and where to type it"))
        }
        begun.codes.endpointOrigins = server.remembered(.token).flatMap(server.origins)
        begun.codes.issuer = setup.issuer.text
        return begun
    }

    package func poll(_ codes: DeviceCodes, store: PartialGrantStore) async throws(PollFailure) -> Grant {
        guard codes.issuer.map(setup.issuer.isNamed) ?? true else {
            throw .refused("\(codes.issuer ?? "") issued the codes, and oauth.issuer is \(setup.issuer.text)")
        }
        let tokens: OAuthTokens
        var areKept = false
        switch partialGrant(store) {
        case .tokens(let before): (tokens, areKept) = (before, true)
        case .refreshToken(let left, let origins):
            do throws(SignInFailure) {
                tokens = try await redeem(left, at: origins, store)
            } catch {
                throw PollFailure(error)
            }
        case .accessToken, nil: tokens = try await ask(for: codes, store)
        }
        do throws(SignInFailure) {
            return try await grant(tokens, OAuthSignIn.Granted(scheme: .device), store, areKept: areKept)
        } catch {
            throw PollFailure(error)
        }
    }

    private func ask(for codes: DeviceCodes, _ store: PartialGrantStore) async throws(PollFailure) -> OAuthTokens {
        let fields: [FormBody.Field] = [
            .text(name: "grant_type", value: "urn:ietf:params:oauth:grant-type:device_code"),
            .secret(name: "device_code", value: codes.deviceCode),
        ]
        let endpoint = try await mappingUnavailability(
            of: await server.required(.token, at: codes.endpointOrigins),
            to: PollFailure.unavailable
        )
        let (answer, sentAt) = try await mappingUnavailability(
            of: await server.post(fields, to: endpoint),
            to: PollFailure.unavailable
        )
        // Some servers send `slow_down` with this status. Without the code, the answer comes from a gateway that asks
        // to wait once, and the interval stays the same.
        if answer.status == 429, OAuthMembers(answer.body)?.text("error") == "slow_down" {
            throw .slowDown(retryAfter: answer.unavailability(now: clock.now().wall).retryAfter)
        }
        let origins = codes.endpointOrigins ?? server.origins(token: endpoint)
        switch OAuthReply(answer, sentAt: sentAt, now: clock.now(), origins: origins) {
        case .granted(let tokens):
            notes.granted(tokens, askedFor: setup.scopes, isSignIn: true)
            return tokens
        case .unusable(let unusable):
            throw PollFailure(await keep(unusable, with: store))
        case .trouble(let why):
            throw .unavailable(why)
        case .error(let error, let why):
            notes.received(error)
            switch error {
            case .pending: throw .pending(retryAfter: why.retryAfter)
            case .slowDown: throw .slowDown(retryAfter: why.retryAfter)
            case .denied: throw .denied
            case .codeExpired: throw .expired
            case .grant, .badCode: throw .refused("\(setup.issuer.place) answered \(error.word)")
            case .client, .unexplained, .unknown: throw .unavailable(why)
            }
        }
    }
}

extension PollFailure {
    fileprivate init(_ failure: SignInFailure) {
        switch failure {
        case .refused(let words): self = .refused(words)
        case .unavailable(let why): self = .unavailable(why)
        }
    }
}

extension DeviceAuthorization {
    /// The default interval of RFC 8628 §3.2.
    private static let usualInterval: Duration = .seconds(5)
    /// The life of the codes if the server does not state it, although it must.
    private static let usualLife: Duration = .seconds(600)
    private static let longestLife: Duration = .seconds(86_400)

    fileprivate init?(_ members: OAuthMembers, sentAt: Moment) {
        // Google names it `verification_url`.
        guard let deviceCode = members.secret("device_code"), let userCode = members.secret("user_code"),
            let uri = members.text("verification_uri") ?? members.text("verification_url"), Self.isShowable(uri),
            userCode.isPrintable, userCode.count <= 64
        else { return nil }
        let complete = members.secret("verification_uri_complete") ?? members.secret("verification_url_complete")
        let life = members.wholeNumber("expires_in").flatMap { $0 > 0 ? Duration.seconds(min($0, 1 << 31)) : nil }
        let interval = members.wholeNumber("interval").flatMap { $0 > 0 ? Duration.seconds(min($0, 1 << 31)) : nil }
        self.init(
            codes: DeviceCodes(
                deviceCode: deviceCode,
                userCode: userCode,
                verificationUri: uri,
                verificationUriComplete: complete.flatMap { $0.isShowableUri ? $0 : nil }
            ),
            life: Life(from: sentAt, lasting: min(life ?? Self.usualLife, Self.longestLife)),
            interval: interval ?? Self.usualInterval
        )
    }

    /// Returns whether a person can open the URI. The daemon does not call it, so it need not be encrypted.
    private static func isShowable(_ uri: String) -> Bool {
        AbsoluteUri.isValid(uri) && (uri.lowercased().hasPrefix("https://") || uri.lowercased().hasPrefix("http://"))
    }
}

extension SharedSecret {
    fileprivate var isShowableUri: Bool {
        (1...2_048).contains(count)
            && withUnsafeBytes { bytes in
                bytes.allSatisfy(\.isVisibleASCII)
                    && (bytes.starts(with: "https://".utf8) || bytes.starts(with: "http://".utf8))
            }
    }
}
