import FoundationEssentials
import Hummingbird
import NIOCore

extension JunctionCloud {
    /// Authenticates the caller and answers a call that changes nothing.
    func api(
        _ request: Request,
        _ body: (CloudState, Caller, Date) throws -> some Encodable & Sendable
    ) throws -> Response {
        try .json(try vet(request, body))
    }

    /// Authenticates the caller and answers a call that changes the state.
    func apiChange(
        _ request: Request,
        _ body: (inout CloudState, Caller, Moment) throws -> Response
    ) throws -> Response {
        try store.change { state, moment in
            let caller = try state.caller(request, now: moment.now)
            return try body(&state, caller, moment)
        }
    }

    /// Authenticates the caller and returns the subject of the call.
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
    func vendorBody<Body: Decodable>(_ type: Body.Type) async throws -> Body {
        let detail: JSONValue = [["loc": ["body"], "msg": "not the JSON expected here"]]
        return try await json(
            keys: .convertFromSnakeCase,
            orElse: Refusal(.unprocessableContent, body: ["detail": detail])
        )
    }
}

/// Junction's answer to a call that returns no data.
struct Done: Encodable {
    let success = true

    static func response() throws -> Response {
        try .json(Done())
    }
}
