import JunctionJSON
import JunctionSecret
import JunctionSession

/// The sealed part of a record: the parts of the session that the header does not have, and the secrets.
struct RecordPayload {
    var content: SessionRecord.Content
    /// A device sign-in that waits for approval. Its codes are among the secrets.
    var deviceSignIn: StoredDeviceSignIn?
    /// Sign-ins and renewals whose user is not known yet. Their tokens are among the secrets.
    var partialGrants: [StoredPartialGrant] = []
    var secrets: SessionSecrets

    /// Returns the payload as JSON. The writer wipes the text when it is released.
    func encoded() -> JSONWriter {
        var text = JSONWriter(capacity: 4096)
        text.object { text in
            switch content {
            case .signedOut:
                break
            case .configured(let environment, let region):
                text.member("environment", environment)
                text.member("region", region)
            case .session(let session):
                text.member(session)
            case .terminated(let termination, let identity):
                if let identity { text.member(identity) }
                text.object("termination") { text in
                    text.member("code", termination.code)
                    text.member("message", termination.message)
                    text.member("at", termination.at.milliseconds)
                }
            }
            if let deviceSignIn { text.member(deviceSignIn) }
            text.object("secrets") { text in
                if let token = secrets.accessToken { text.member("accessToken", secret: token) }
                if let token = secrets.refreshToken { text.member("refreshToken", secret: token) }
                if let key = secrets.apiKey { text.member("apiKey", secret: key) }
                if let type = secrets.subjectTokenType { text.member("subjectTokenType", type) }
                text.member(secrets.endpointOrigins)
                if deviceSignIn != nil, let codes = secrets.codes { text.member(codes) }
            }
            if !partialGrants.isEmpty { text.member(partialGrants, secrets.partialGrants) }
        }
        return text
    }
}

extension RecordPayload {
    /// Reads a payload of any format. Returns nil if it does not match its header.
    init?(decoding bytes: UnsafeRawBufferPointer, as state: RecordHeader.State, format: RecordFormat) {
        guard let text = try? JSONValue.parse(bytes), let secrets = text["secrets"] else { return nil }
        self.secrets = SessionSecrets(
            accessToken: secrets["accessToken"]?.secret,
            refreshToken: secrets["refreshToken"]?.secret,
            apiKey: secrets["apiKey"]?.secret,
            subjectTokenType: secrets["subjectTokenType"]?.string
        )
        self.secrets.endpointOrigins = EndpointOrigins(secrets["endpointOrigins"])
        if let stored = text["approval"] {
            guard let deviceSignIn = StoredDeviceSignIn(stored), let codes = DeviceCodes(secrets["codes"]) else {
                return nil
            }
            (self.deviceSignIn, self.secrets.codes) = (deviceSignIn, codes)
        }
        if let items = text["partialGrants"]?.elements {
            for item in items {
                guard let stored = StoredPartialGrant(item), let grant = PartialGrant(item) else { return nil }
                partialGrants.append(stored)
                self.secrets.partialGrants.append(grant)
            }
        }
        guard let content = SessionRecord.Content(text, as: state, format: format) else { return nil }
        self.content = content
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ session: StoredSession) {
        member(session.identity)
        member("scheme", session.scheme.rawValue)
        if let id = session.externalUserId { member("externalUserId", id.text) }
        if let token = session.token {
            object("token") { text in
                text.member("issuedAt", token.issuedAt.milliseconds)
                text.member("expiresAt", token.expiresAt.milliseconds)
                text.member("generation", token.generation)
            }
        }
        if let time = session.renewAt { member("renewAt", time.milliseconds) }
        if let postponement = session.postponement {
            member("postponedUntil", postponement.until.milliseconds)
            if let reason = postponement.reason { member("postponedAfter", reason) }
        }
        if let time = session.demandedUntil { member("demandedUntil", time.milliseconds) }
        member("reauthenticationPending", session.reauthenticationPending)
        if let refusals = session.unexplainedRefusals {
            object("unexplainedRefusals") { text in
                text.member("count", Int64(refusals.count))
                text.member("firstAt", refusals.firstAt.milliseconds)
            }
        }
        member("renewalUnderWay", session.renewalUnderWay)
        if session.intentCannotBeResent { member("renewalUsesAnswer", true) }
    }

    fileprivate mutating func member(_ identity: Identity) {
        object("identity") { text in
            text.member("userId", identity.userId)
            if let id = identity.teamId { text.member("teamId", id) }
            if let name = identity.environment { text.member("environment", name) }
            if let name = identity.region { text.member("region", name) }
            if let name = identity.issuer { text.member("issuer", name) }
        }
    }
}

// A device sign-in that waits for approval.
extension JSONWriter {
    fileprivate mutating func member(_ deviceSignIn: StoredDeviceSignIn) {
        object("approval") { text in
            text.member("expiresAt", deviceSignIn.expiresAt.milliseconds)
            text.member("interval", deviceSignIn.interval.wholeMilliseconds)
            if let time = deviceSignIn.notBefore { text.member("notBefore", time.milliseconds) }
            if let id = deviceSignIn.externalUserId { text.member("externalUserId", id.text) }
            if let identity = deviceSignIn.wanted { text.member(identity) }
            if let caller = deviceSignIn.caller { text.member(caller) }
        }
    }

    fileprivate mutating func member(_ caller: LocalCaller) {
        object("caller") { text in
            text.member("user", caller.user)
            text.array("groups") { groups in
                for group in caller.groups.sorted() { groups.integer(group) }
            }
            switch caller.membership {
            case .unknown: break
            case .inNone: text.member("unit", nil as String?)
            case .inUnit(let name): text.member("unit", name)
            }
        }
    }

    fileprivate mutating func member(_ codes: DeviceCodes) {
        object("codes") { text in
            text.member("deviceCode", secret: codes.deviceCode)
            text.member("userCode", secret: codes.userCode)
            text.member("verificationUri", codes.verificationUri)
            if let uri = codes.verificationUriComplete { text.member("verificationUriComplete", secret: uri) }
            text.member(codes.endpointOrigins)
            if let issuer = codes.issuer { text.member("issuer", issuer) }
        }
    }

    fileprivate mutating func member(_ origins: EndpointOrigins?) {
        guard let origins else { return }
        object("endpointOrigins") { text in
            text.member("token", origins.token)
            if let origin = origins.deviceAuthorization { text.member("deviceAuthorization", origin) }
            if let origin = origins.revocation { text.member("revocation", origin) }
            if let origin = origins.userinfo { text.member("userinfo", origin) }
        }
    }
}

// Partial grants: each one is written with its secrets, so that no two arrays can differ.
extension JSONWriter {
    fileprivate mutating func member(_ stored: [StoredPartialGrant], _ grants: [PartialGrant]) {
        array("partialGrants") { text in
            for (stored, grant) in zip(stored, grants) {
                text.object { text in
                    text.member("expiresAt", stored.expiresAt.milliseconds)
                    switch stored.purpose {
                    case .signIn: break
                    case .deviceSignIn: text.member("isOfApproval", true)
                    case .renewal: text.member("isOfRenewal", true)
                    }
                    text.member("credential", secret: grant.credential)
                    text.member("content", secret: grant.content)
                }
            }
        }
    }
}

extension StoredPartialGrant {
    fileprivate init?(_ text: JSONValue) {
        guard let expiresAt = WallTime(text["expiresAt"]) else { return nil }
        let isOfDeviceSignIn = text["isOfApproval"]?.bool ?? false
        let isOfRenewal = text["isOfRenewal"]?.bool ?? false
        self.init(expiresAt: expiresAt, purpose: isOfDeviceSignIn ? .deviceSignIn : isOfRenewal ? .renewal : .signIn)
    }
}

extension PartialGrant {
    fileprivate init?(_ text: JSONValue) {
        guard let credential = text["credential"]?.secret, let content = text["content"]?.secret else { return nil }
        self.init(credential: credential, content: content)
    }
}

extension EndpointOrigins {
    fileprivate init?(_ text: JSONValue?) {
        guard let text, let token = text["token"]?.string else { return nil }
        self.init(
            token: token,
            deviceAuthorization: text["deviceAuthorization"]?.string,
            revocation: text["revocation"]?.string,
            userinfo: text["userinfo"]?.string
        )
    }
}

extension StoredDeviceSignIn {
    fileprivate init?(_ text: JSONValue) {
        guard let expiresAt = WallTime(text["expiresAt"]), let interval = text["interval"]?.integer else { return nil }
        self.init(
            expiresAt: expiresAt,
            interval: .milliseconds(interval),
            notBefore: WallTime(text["notBefore"]),
            externalUserId: text["externalUserId"]?.string.flatMap(ExternalUserId.init),
            wanted: Identity(text["identity"]),
            caller: LocalCaller(text["caller"])
        )
    }
}

extension LocalCaller {
    fileprivate init?(_ text: JSONValue?) {
        guard let text, let user = text["user"]?.integer.flatMap(UInt32.init(exactly:)) else { return nil }
        let groups = text["groups"]?.elements.compactMap { $0.integer.flatMap(UInt32.init(exactly:)) } ?? []
        let membership = text["unit"].map { $0.string.map(UnitMembership.inUnit) ?? .inNone } ?? .unknown
        self.init(user: user, groups: Set(groups), membership: membership)
    }
}

extension DeviceCodes {
    fileprivate init?(_ text: JSONValue?) {
        guard
            let text,
            let deviceCode = text["deviceCode"]?.secret,
            let userCode = text["userCode"]?.secret,
            let verificationUri = text["verificationUri"]?.string
        else { return nil }
        self.init(
            deviceCode: deviceCode,
            userCode: userCode,
            verificationUri: verificationUri,
            verificationUriComplete: text["verificationUriComplete"]?.secret
        )
        endpointOrigins = EndpointOrigins(text["endpointOrigins"])
        issuer = text["issuer"]?.string
    }
}

extension SessionRecord.Content {
    fileprivate init?(_ text: JSONValue, as state: RecordHeader.State, format: RecordFormat) {
        switch state {
        case .signedOut:
            self = .signedOut
        case .configured:
            guard let environment = text["environment"]?.string, let region = text["region"]?.string else { return nil }
            self = .configured(environment: environment, region: region)
        case .established:
            guard let session = StoredSession(text, format: format) else { return nil }
            self = .session(session)
        case .terminated:
            guard let termination = Termination(text["termination"]) else { return nil }
            self = .terminated(termination, Identity(text["identity"]))
        }
    }
}

extension StoredSession {
    fileprivate init?(_ text: JSONValue, format: RecordFormat) {
        guard
            let identity = Identity(text["identity"]),
            let scheme = text["scheme"]?.string.flatMap(Scheme.init(rawValue:)),
            let reauthenticationPending = text["reauthenticationPending"]?.bool
        else { return nil }
        self.init(
            identity: identity,
            scheme: scheme,
            token: nil,
            renewAt: WallTime(text["renewAt"]),
            postponement: StoredPostponement(text),
            demandedUntil: WallTime(text["demandedUntil"]),
            reauthenticationPending: reauthenticationPending
        )
        unexplainedRefusals = UnexplainedRefusals(text["unexplainedRefusals"])
        if let facts = text["token"] {
            guard let token = TokenFacts(facts) else { return nil }
            self.token = token
        }
        switch format {
        case .first:
            break
        case .current:
            guard let renewalUnderWay = text["renewalUnderWay"]?.bool else { return nil }
            self.renewalUnderWay = renewalUnderWay
            intentCannotBeResent = text["renewalUsesAnswer"]?.bool ?? false
            externalUserId = text["externalUserId"]?.string.flatMap(ExternalUserId.init)
        }
    }
}

extension Identity {
    fileprivate init?(_ text: JSONValue?) {
        guard let text, let userId = text["userId"]?.string else { return nil }
        self.init(
            userId: userId,
            teamId: text["teamId"]?.string,
            environment: text["environment"]?.string,
            region: text["region"]?.string,
            issuer: text["issuer"]?.string
        )
    }
}

extension StoredPostponement {
    fileprivate init?(_ text: JSONValue) {
        guard let until = WallTime(text["postponedUntil"]) else { return nil }
        self.init(until: until, reason: text["postponedAfter"]?.string)
    }
}

extension UnexplainedRefusals {
    fileprivate init?(_ text: JSONValue?) {
        guard let count = text?["count"]?.integer.flatMap(Int.init(exactly:)), let firstAt = WallTime(text?["firstAt"])
        else { return nil }
        self.init(count: count, firstAt: firstAt)
    }
}

extension TokenFacts {
    fileprivate init?(_ text: JSONValue) {
        guard
            let issuedAt = WallTime(text["issuedAt"]),
            let expiresAt = WallTime(text["expiresAt"]),
            let generation = text["generation"]?.unsigned
        else { return nil }
        self.init(issuedAt: issuedAt, expiresAt: expiresAt, generation: generation)
    }
}

extension Termination {
    fileprivate init?(_ text: JSONValue?) {
        guard
            let text,
            let code = text["code"]?.string,
            let message = text["message"]?.string,
            let at = WallTime(text["at"])
        else { return nil }
        self.init(code: code, message: message, at: at)
    }
}

extension WallTime {
    fileprivate init?(_ value: JSONValue?) {
        guard let milliseconds = value?.integer else { return nil }
        self.init(milliseconds: milliseconds)
    }
}
