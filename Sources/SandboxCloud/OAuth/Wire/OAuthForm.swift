/// The parameters of a request, by the rules of RFC 6749 §3.1 and §3.2: an empty one was not sent, and none comes twice.
struct OAuthForm: Sendable {
    private let form: Form

    /// What may be repeated (RFC 8707 §2, RFC 8693 §2.1).
    private static let repeatable: Set<String> = ["resource", "audience"]

    init(_ form: Form?) throws(OAuthRefusal) {
        guard let form else { throw OAuthError.invalidRequest.because("send a form: \(Form.contentType)") }
        var seen: Set<String> = []
        for field in form.fields where !Self.repeatable.contains(field.name) {
            guard seen.insert(field.name).inserted else {
                throw OAuthError.invalidRequest.because("'\(field.name)' was sent twice")
            }
        }
        self.form = form
    }

    subscript(name: String) -> String? {
        form[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    func require(_ name: String) throws(OAuthRefusal) -> String {
        guard let value = self[name] else { throw OAuthError.invalidRequest.because("'\(name)' is missing") }
        return value
    }

    /// All values of a parameter that may be repeated.
    func all(_ name: String) -> [String] { form.all(name).filter { !$0.isEmpty } }

    /// The scopes asked for, or `nil` where none were named.
    var scopes: [String]? {
        self["scope"]?.split(separator: " ").map(String.init)
    }

    var grant: GrantType? { GrantType(form) }
}
