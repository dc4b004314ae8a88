import FoundationEssentials
import Hummingbird
import NIOCore

extension JunctionCloud {
    /// Answers a call that changes nothing, once its caller is known.
    func api(
        _ request: Request,
        _ body: (CloudState, Caller, Date) throws -> some Encodable & Sendable
    ) throws -> Response {
        try .json(try vet(request, body))
    }

    /// Answers a call that changes something, once its caller is known.
    func apiChange(
        _ request: Request,
        _ body: (inout CloudState, Caller, Moment) throws -> Response
    ) throws -> Response {
        try store.change { state, moment in
            let caller = try state.caller(request, now: moment.now)
            return try body(&state, caller, moment)
        }
    }

    /// What a call is about, once its caller is known.
    func vet<Subject: Sendable>(
        _ request: Request,
        _ body: (CloudState, Caller, Date) throws -> Subject
    ) throws -> Subject {
        try store.read { state, moment in
            try body(state, try state.caller(request, now: moment.now), moment.now)
        }
    }
}

extension Request {
    /// The body of a call to Junction's API.
    func vendorBody<Body: Decodable>(_ type: Body.Type) async throws -> Body {
        let detail: JSONValue = [["loc": ["body"], "msg": "not the JSON expected here"]]
        return try await json(
            keys: .convertFromSnakeCase,
            orElse: Refusal(.unprocessableContent, body: ["detail": detail])
        )
    }
}

/// What Junction answers when there is nothing to say.
struct Done: Encodable {
    let success = true

    static func response() throws -> Response {
        try .json(Done())
    }
}
