import Hummingbird

extension OAuthCloud {
    /// Adds `/oauth/device_authorization`, where a device requests codes, and `/oauth/device`, where a user enters one.
    func addDeviceRoutes(to router: Router<CloudContext>) {
        router.post("oauth/device_authorization") { request, context in
            try answer { try deviceCode(request, context.requireForm()) }
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

    private func deviceCode(_ request: Request, _ form: Form) throws -> [String: JSONValue] {
        let client = try client(of: request, form, endpoint: "device_authorization")
        let settings = settings
        guard !settings.unauthorizedGrants.contains(.deviceCode) else {
            throw TokenError.unauthorizedClient.because("this client may not use the device grant")
        }
        let wanted = try OAuthRequest(form, client: client.id, on: settings)
        let codes = try store.change { state, moment in state.devices.open(wanted, on: settings, now: moment.now) }
        store.count { $0.deviceCodes += 1 }
        let page = "\(issuer(for: request))/device"
        let members: [String: JSONValue] = [
            "device_code": .string(codes.deviceCode),
            "user_code": .string(codes.userCode),
            "verification_uri": .string(page),
            "verification_uri_complete": .string("\(page)?user_code=\(codes.userCode)"),
            "expires_in": .integer(Int64(settings.deviceCodeLifetime)),
            "interval": .integer(Int64(settings.interval)),
        ]
        return members.overlaid(with: settings.deviceMembers)
    }

    private func decide(_ form: Form) throws -> Response {
        do {
            let isApproval = form["decision"] == "approve"
            try store.change { state, moment in
                let user = try state.signIn(form["user"] ?? "", now: moment.now)
                try state.devices.decide(
                    isApproval ? .approved : .denied,
                    by: isApproval ? user.userId : nil,
                    for: form["user_code"] ?? "",
                    now: moment.now
                )
            }
            return isApproval
                ? OAuthPage.message("Connected", "The device is signed in now. You can close this page.", status: .ok)
                : OAuthPage.message("Not connected", "The device was told that you said no.", status: .ok)
        } catch let refusal as TokenRefusal {
            return OAuthPage.message("That did not work", refusal.description, status: .badRequest)
        }
    }
}
