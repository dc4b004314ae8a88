package import JunctionProtocol

// The session and the protocol have types of the same name, because the client library publishes those of the
// protocol. Inside the daemon, the types of the protocol have the prefix `Wire`.

package typealias WireApiAnswer = JunctionProtocol.ApiAnswer
package typealias WireApiRequest = JunctionProtocol.ApiRequest
package typealias WireCredential = JunctionProtocol.Credential
package typealias WireRenewalAnswer = JunctionProtocol.RenewalAnswer
package typealias WireRequestID = JunctionProtocol.RequestID
package typealias WireSnapshot = JunctionProtocol.Snapshot
package typealias WireTermination = JunctionProtocol.Termination
