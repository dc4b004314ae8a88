import JunctionJSON
import JunctionSecret
import JunctionSession
import JunctionText

/// The registration endpoint. The provider does not document it, and only this file knows its format.
///
/// `POST {url}` with `{applicationKey, userId, deviceId, instanceId?}` and either `{jwt}` or `{signature, sequence}`
/// answers `{instanceId, credential?, expiresAt}`. `GET {url}/{instanceId}` checks the registration, and `DELETE`
/// removes it. A refusal is 401 or 403 with a JSON object; its `errorCode` 1104 means that the service does not know
/// the instance.
struct InstanceEndpoint: Sendable {
    let cloud: SinchCloud
    let application: SinchApplication
    let deviceId: String
    let http: OutgoingHTTP
    let clock: any SessionClock

    /// A registration that the service granted.
    struct Instance: Sendable {
        var id: String
        /// The credential; `nil` if the service issues none.
        var credential: SharedSecret?
        /// The end of the registration on the local clock; `nil` if it does not end.
        var expiresAt: WallTime?
        /// The start of the request, expressed on the present wall clock.
        var sentAt: Moment
        /// The difference between the server's clock and the local one.
        var serverClock: ServerClock
    }

    /// The reason why the service registered nothing.
    enum Failure: Error, Equatable {
        case refused
        case forgotten
        /// No request was sent, because the sequence was used before. The text names the next step.
        case spent(String)
        case unavailable(Unavailability)
    }

    /// Registers a user's device, without a retry.
    ///
    /// - Parameter instanceId: the instance to extend, or `nil` for a first registration.
    func register(
        _ userId: String,
        proving proof: SinchProof,
        extending instanceId: String?
    ) async throws(Failure) -> Instance {
        let call = HTTPCall(
            method: "POST",
            origin: cloud.registration,
            target: "",
            headers: [("content-type", "application/json"), ("accept", "application/json")],
            body: .secret(body(userId, proof, instanceId)),
            patience: HTTPCall.tokenResponseTimeout
        )
        let sent = clock.now()
        let answer = try await mappingUnavailability(of: await http.answer(to: call), to: Failure.unavailable)
        guard answer.isSuccess else { throw failure(answer) }
        guard let instance = instance(answer, sent) else {
            throw .unavailable(answer.unreadable("an instance and its end"))
        }
        return instance
    }

    /// Removes a registration. An instance that the service does not know counts as removed. Only `errorCode` 1104
    /// shows that: a gateway in front of the service may also answer 401 or 403.
    func delete(_ instanceId: String, credential: SharedSecret?) async throws(Unavailability) {
        _ = try await isThere("DELETE", instanceId, credential)
    }

    /// Returns whether the service still knows an instance.
    func knows(_ instanceId: String, credential: SharedSecret?) async throws(Unavailability) -> Bool {
        try await isThere("GET", instanceId, credential)
    }

    private func isThere(
        _ method: String,
        _ instanceId: String,
        _ credential: SharedSecret?
    ) async throws(Unavailability) -> Bool {
        let call = HTTPCall(
            method: method,
            origin: cloud.registration,
            target: "/\(PercentEncoding.encode(instanceId))",
            credentials: credential.map { [BearerToken.header($0)] } ?? [],
            patience: .seconds(5)
        )
        let answer = try await http.answer(to: call)
        if answer.isSuccess { return true }
        guard failure(answer) == .forgotten else { throw answer.unavailability(now: clock.now().wall) }
        return false
    }

    private func body(_ userId: String, _ proof: SinchProof, _ instanceId: String?) -> SharedSecret {
        SharedSecret.jsonObject { text in
            text.member("applicationKey", application.key)
            text.member("userId", userId)
            text.member("deviceId", deviceId)
            if let instanceId { text.member("instanceId", instanceId) }
            switch proof {
            case .token(let jwt, _):
                text.member("jwt", secret: jwt)
            case .signature(let signature, let sequence):
                text.member("signature", secret: signature)
                text.member("sequence", String(sequence))
            }
        }
    }

    private func instance(_ answer: HTTPAnswer, _ sent: Moment) -> Instance? {
        guard let body = answer.body.json,
            let id = body["instanceId"]?.string, (1...256).contains(id.utf8.count)
        else { return nil }
        let received = clock.now()
        let sentAt = sent.read(by: received)
        var instance = Instance(
            id: id,
            sentAt: sentAt,
            serverClock: ServerClock(answer, sentAt: sentAt.wall, receivedAt: received.wall)
        )
        if let value = body["credential"], !value.isNull {
            guard let credential = value.secret, BearerToken.fitsHeader(credential) else { return nil }
            instance.credential = credential
        }
        if let value = body["expiresAt"], !value.isNull {
            guard let seconds = value.integer, (0...WallTime.never.milliseconds / 1_000).contains(seconds) else {
                return nil
            }
            let end = instance.serverClock.ours(WallTime(milliseconds: seconds * 1_000))
            guard end > sentAt.wall else { return nil }
            instance.expiresAt = end
        }
        return instance
    }

    private func failure(_ answer: HTTPAnswer) -> Failure {
        let body = answer.body.json
        guard answer.status == 401 || answer.status == 403, let body, body.kind == .object else {
            return .unavailable(answer.unavailability(now: clock.now().wall))
        }
        return answer.status == 401 && body["errorCode"]?.integer == 1_104 ? .forgotten : .refused
    }
}
