import Glibc
import JunctionClientTesting
import JunctionJSON

@testable import JunctionClient

extension ScriptedConnection {
    func answer(_ message: JSONValue?, _ result: String) {
        answer(message.map(ScriptedRequest.init), result)
    }

    func refuse(_ message: JSONValue?, _ error: String) {
        refuse(message.map(ScriptedRequest.init), error)
    }
}

/// The snapshot of a signed-in user, with members that a newer daemon might add.
func snapshotJSON(revision: Int = 17, state: String = "established", durable: Bool = true) -> String {
    """
    {"revision":\(revision),"changedAt":"2026-11-21T06:20:34Z","state":"\(state)",\
    "flags":["configured","signedIn","useSignInToken","shiny"],"provider":"junction","scheme":"signInToken",\
    "userId":"user-1","externalUserId":"joe","teamId":"team-1","environment":"sandbox","region":"us",\
    "accessToken":{"issuedAt":"2026-11-21T06:20:34Z","expiresAt":"2026-11-21T07:20:34Z","generation":3,"more":1},\
    "renewal":{"phase":"scheduled","notBefore":"2026-11-21T07:00:00Z","failures":0,"lastError":null},\
    "termination":null,"storage":{"sealedWith":"file","durable":\(durable),"status":"ok"},"mood":{"x":[1]}}
    """
}

extension WakeUpDescriptor {
    /// Blocks a script until the test rings.
    func waitForRing() {
        try? waitForInput(from: nil, until: .never, unless: .ringing(self))
        silence()
    }
}
