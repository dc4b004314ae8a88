/// Signs the user out, from any state and without the network.
package enum SessionSignOut: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = Snapshot

    package static let name: StaticString = "session.signOut"
    package static let capability: Capability? = .manage
    package static let summary = "Signs the user out, from any state and without the network"
}
