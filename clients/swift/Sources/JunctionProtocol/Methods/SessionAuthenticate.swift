/// The daemon's question to a caller of `session.identify`: a credential for this user, please.
package enum SessionAuthenticate: MethodDefinition {
    /// Whom the credential is for.
    package struct Params: WireParams, WireObject, Hashable {
        package var externalUserId: String

        package init(externalUserId: String) {
            self.externalUserId = externalUserId
        }

        package static let fields = Fields(
            at: "params",
            Params.init(externalUserId:),
            Field("externalUserId", \.externalUserId, .text, "the user as the app names them")
        )
    }

    package typealias Answer = Credential

    package static let name: StaticString = "session.authenticate"
    package static let capability: Capability? = .manage
    package static let summary = "Asks the caller of session.identify for a credential; an error changes nothing"
}
