import Hummingbird

extension OAuthCloud {
    /// Adds `/oauth/authorize`: the sign-in page for a browser, and the endpoint of its form.
    func addAuthorizeRoutes(to router: Router<CloudContext>) {
        router.get("oauth/authorize") { request, _ in
            let query = Form(request.uri.query ?? "")
            return try told(query, request) { wanted in
                _ = try wanted.checked(on: settings)
                return OAuthPage.decision(
                    title: "Sign in",
                    text: "'\(wanted.client)' wants to act for you.",
                    action: "authorize",
                    hidden: query.fields
                )
            }
        }
        router.post("oauth/authorize") { request, context in
            let form = context.form ?? Form("")
            return try told(form, request) { wanted in
                guard form["decision"] == "approve" else {
                    throw TokenError.accessDenied.because("the person said no")
                }
                let code = try store.change { state, moment in
                    let user = try state.signIn(form["user"] ?? "", now: moment.now)
                    let request = try wanted.checked(on: moment.settings.oauth)
                    return state.codes.open(
                        request,
                        for: user.userId,
                        redirectUri: wanted.redirectUri,
                        now: moment.now
                    )
                }
                return back(to: wanted, [(name: "code", value: code)], request)
            }
        }
    }

    /// Answers with a page or a redirect. An error goes to the client by a redirect if the redirect URI is valid.
    private func told(
        _ form: Form,
        _ request: Request,
        _ body: (AuthorizationRequest) throws -> Response
    ) throws -> Response {
        let wanted: AuthorizationRequest
        do throws(TokenRefusal) {
            let clients = store.read { state, _ in state.clients }
            try form.requireDistinct()
            wanted = try AuthorizationRequest(form, clients)
        } catch {
            return OAuthPage.message("That did not work", error.description, status: .badRequest)
        }
        do {
            return try body(wanted)
        } catch let refusal as TokenRefusal {
            let fields = [
                (name: "error", value: refusal.error.rawValue),
                (name: "error_description", value: refusal.description),
            ]
            return back(to: wanted, fields, request)
        }
    }

    private func back(
        to wanted: AuthorizationRequest,
        _ fields: [(name: String, value: String)],
        _ request: Request
    ) -> Response {
        var response = Response(status: .seeOther)
        response.headers[.location] = wanted.location(fields, issuer: issuer(for: request))
        response.headers[.contentLength] = "0"
        return response
    }
}
