import FoundationEssentials
import Hummingbird

/// The stand-in for Sinch's user registration.
///
/// The vendor documents the token and its rules, but not the endpoint. The rules are the vendor's. The format of
/// requests and answers is our own.
struct SinchCloud: Vendor {
    let name = VendorName.sinch
    let title = "Sinch"
    let store: Store
    let application: SinchApplication

    let tokenEndpoints: Set<String> = ["POST /v1/instance"]

    let credentials: KeyValuePairs<String, String> = [
        "Registration token": "registration-token", "Registration signature": "registration-signature",
    ]

    func addRoutes(to router: Router<CloudContext>) {
        addInstanceRoutes(to: router)
    }

    func make(_ credential: String, for user: String, _ request: Request) async throws -> JSONValue {
        if credential == "registration-signature" {
            let wanted = try await request.order(SequenceOrder.self).sequence
            let last = store.read { state, _ in state.sequences[user] ?? 0 }
            guard let sequence = UInt64(wanted ?? String(last &+ 1)) else {
                throw Refusal.order("sequence is a text of decimal digits, up to \(UInt64.max)")
            }
            return [
                "signature": .string(application.signature(of: user, sequence: sequence)),
                "sequence": .string(String(sequence)),
            ]
        }
        let moment = store.snapshot.moment
        let token = try RegistrationTokenIssuer(application: application)
            .token(for: user, now: moment.stated(moment.now).second, changes: try await request.order())
        return ["userId": .string(user), "registrationToken": .string(token)]
    }

    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration {
        DaemonConfiguration(
            provider: .sinch,
            settings: ["applicationKey": .text(application.key), "registrationUrl": .text("\(origin)/v1/instance")]
        )
    }
}

private struct SequenceOrder: Decodable {
    var sequence: String?
}

/// The settings of Sinch, changed by `POST /sandbox/sinch/settings`.
struct SinchSettings: SettingsGroup {
    var credentials = true
}

extension Date {
    /// The whole seconds since 1970.
    var second: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }

    init(second: Int64) { self.init(timeIntervalSince1970: Double(second)) }
}
