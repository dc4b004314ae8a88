import Foundation
import Testing

/// Calls the examples of the daemon's OpenRPC document and compares the answers.
struct DiscoveredExampleTests {
    /// The methods that change no important state and that a daemon with a signed-in user answers.
    private static let harmless = [
        "session.status", "session.subscribe", "session.unsubscribe", "session.reconcile", "session.renew", "token.get",
        "api.request", "handler.register", "handler.unregister", "daemon.info", "daemon.metrics", "daemon.diagnose",
        "daemon.reload",
        "access.whoami",
    ]

    @Test func `each documented example matches the daemon's answer`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        let client = try installation.connect()
        let document = try client.call("rpc.discover")
        let methods = try #require(document["methods"] as? [Object])

        for name in Self.harmless {
            let method = try #require(methods.first { $0["name"] as? String == name }, "\(name)")
            // The first example has a signed-in user.
            let example = try #require((method["examples"] as? [Object])?.first, "\(name)")
            let params = (example["params"] as? [Object] ?? []).reduce(into: Object()) { params, param in
                params[param["name"] as? String ?? ""] = param["value"]
            }
            let shown = try #require((example["result"] as? Object)?["value"], "\(name)")

            let envelope = try client.envelope(of: client.request(name, params))

            #expect(envelope["error"] == nil, "\(name)")
            #expect(Self.differences(try #require(envelope["result"]), shown, at: name) == [])
        }
    }

    /// Returns the places where two values have different types. Null is allowed everywhere.
    private static func differences(_ real: Any, _ shown: Any, at place: String) -> [String] {
        switch (real, shown) {
        case (is NSNull, _), (_, is NSNull): return []
        case (let real as Object, let shown as Object):
            // Header fields depend on the provider.
            guard !place.hasSuffix("/headers") else { return [] }
            let names = Set(real.keys).symmetricDifference(shown.keys).map { "\(place)/\($0) is on one side only" }
            return names
                + real.keys.filter { shown[$0] != nil }.flatMap {
                    differences(real[$0]!, shown[$0]!, at: "\(place)/\($0)")
                }
        case (let real as [Any], let shown as [Any]):
            return real.enumerated().compactMap { index, element in
                shown.map { differences(element, $0, at: "\(place)/\(index)") }.min { $0.count < $1.count }
            }.flatMap(\.self)
        case (is String, is String), (is NSNumber, is NSNumber): return []
        default: return ["\(place): \(type(of: real)) is no \(type(of: shown))"]
        }
    }
}
