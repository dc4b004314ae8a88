import FoundationEssentials
import Hummingbird
import NIOCore

extension JunctionCloud {
    /// Answers a call that changes nothing, once its caller is known.
    func api(
        _ request: Request,
        _ body: (JunctionState, Caller, Date) throws -> some Encodable & Sendable
    ) throws -> Response {
        try .json(try vet(request, body), spelling: .snakeCase)
    }

    /// Answers a call that changes something, once its caller is known.
    func apiChange(
        _ request: Request,
        _ body: (inout JunctionState, Caller, Date) throws -> Response
    ) throws -> Response {
        try ledger.change { state, now in
            let caller = try state.junction.caller(request.headers, now: now)
            return try body(&state.junction, caller, now)
        }
    }

    /// What a call is about, once its caller is known.
    func vet<Subject: Sendable>(
        _ request: Request,
        _ body: (JunctionState, Caller, Date) throws -> Subject
    ) throws -> Subject {
        try ledger.read { state, now in
            try body(state.junction, try state.junction.caller(request.headers, now: now), now)
        }
    }
}

extension Request {
    /// The body of a call to Junction's API.
    func vendorBody<Body: Decodable>(_ type: Body.Type) async throws -> Body {
        let buffer = try await body.collect(upTo: TrafficMiddleware.longestBody)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            return try decoder.decode(Body.self, from: Data(buffer.readableBytesView))
        } catch {
            throw Refusal(
                .unprocessableContent,
                body: ["detail": [["loc": ["body"], "msg": "not the JSON expected here"]]]
            )
        }
    }
}

/// What Junction answers when there is nothing to say.
struct Done: Encodable {
    let success = true

    static func response() throws -> Response {
        try .json(Done())
    }
}
