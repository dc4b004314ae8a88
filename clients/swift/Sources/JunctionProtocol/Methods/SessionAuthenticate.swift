/// The daemon's request to a caller of `session.identify`: the credential of this user.
package enum SessionAuthenticate: MethodDefinition {
    /// The user whose credential the daemon needs.
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
