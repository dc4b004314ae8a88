import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// Answers a request to the token endpoint or a related endpoint, in the configured format.
    func answer(_ members: () throws -> [String: JSONValue]) throws -> Response {
        let settings = settings
        var response: Response
        do {
            response = try .oauth(try members().padded(with: settings.nullMembers), as: settings.answers, status: .ok)
        } catch let refusal as TokenRefusal {
            let status = settings.errorStatus.map { HTTPResponse.Status(code: $0) } ?? refusal.status
            response = try .oauth(
                refusal.members.padded(with: settings.nullMembers),
                as: settings.errors,
                status: status
            )
            if status == .unauthorized { response.headers[.wwwAuthenticate] = #"Basic realm="junction-sandbox""# }
        }
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

extension Response {
    fileprivate static func oauth(
        _ members: [String: JSONValue],
        as notation: OAuthSettings.Notation,
        status: HTTPResponse.Status
    ) throws -> Response {
        switch notation {
        case .json:
            return try .json(members, status: status)
        case .form:
            let fields = try members.sorted { $0.key < $1.key }.map { name, value in
                (name: name, value: try value.string ?? String(decoding: value.text(), as: UTF8.self))
            }
            return .bytes(Array(Form.text(fields).utf8), status: status, contentType: Form.contentType)
        case .empty:
            var response = Response(status: status)
            response.headers[.contentLength] = "0"
            return response
        case .html:
            return OAuthPage.message("Something is wrong", "The server cannot say it in JSON.", status: status)
        }
    }
}
