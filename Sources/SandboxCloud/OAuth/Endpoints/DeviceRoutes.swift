import Hummingbird

extension OAuthCloud {
    /// `/oauth/device_authorization`, which a device asks for codes, and `/oauth/device`, where a person uses one.
    func addDeviceRoutes(to router: Router<CloudContext>) {
        router.post("oauth/device_authorization") { request, context in
            try answer { try deviceCode(request, OAuthForm(context.form)) }
        }
        router.get("oauth/device") { request, _ in
            OAuthPage.decision(
                title: "Connect a device",
                text: "Type in the code that the device shows, and make sure that it is your own device.",
                action: "device",
                userCode: Form(request.uri.query ?? "")["user_code"] ?? ""
            )
        }
        router.post("oauth/device") { _, context in try decide(context.form ?? Form("")) }
    }

    private func deviceCode(_ request: Request, _ form: OAuthForm) throws -> [String: JSONValue] {
        let client = try client(of: request, form, endpoint: "device_authorization")
        let challenge = try PKCE.challenge(in: form)
        let terms = terms
        guard !terms.unauthorizedGrants.contains(.deviceCode) else {
            throw OAuthError.unauthorizedClient.because("this client may not use the device grant")
        }
        let wish = DeviceGrants.Wish(
            client: client.id,
            scopes: try terms.granted(form.scopes ?? []),
            resources: form.all("resource"),
            challenge: challenge
        )
        let codes = try ledger.change { state, now in state.oauth.devices.open(wish, on: terms, now: now) }
        counters.count { $0.deviceCodes += 1 }
        let page = "\(issuer(for: request))/device"
        let members: [String: JSONValue] = [
            "device_code": .string(codes.deviceCode),
            "user_code": .string(codes.userCode),
            "verification_uri": .string(page),
            "verification_uri_complete": .string("\(page)?user_code=\(codes.userCode)"),
            "expires_in": .integer(Int64(terms.deviceCodeLifetime)),
            "interval": .integer(Int64(terms.interval)),
        ]
        return members.overlaid(with: terms.deviceMembers)
    }

    private func decide(_ form: Form) throws -> Response {
        do {
            let isApproval = form["decision"] == "approve"
            try ledger.change { state, now in
                let user = try state.oauth.users.signIn(form["user"] ?? "", now: now)
                try state.oauth.devices.decide(
                    isApproval ? .approved(by: user.sub) : .denied,
                    for: form["user_code"] ?? "",
                    now: now
                )
            }
            return isApproval
                ? OAuthPage.message("Connected", "The device is signed in now. You can close this page.", status: .ok)
                : OAuthPage.message("Not connected", "The device was told that you said no.", status: .ok)
        } catch let refusal as OAuthRefusal {
            return OAuthPage.message("That did not work", refusal.description, status: .badRequest)
        }
    }
}
