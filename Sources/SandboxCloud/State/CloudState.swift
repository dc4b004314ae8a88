import FoundationEssentials

/// All that the cloud remembers. A vendor keeps its part in one property of its own.
struct CloudState: Codable, Sendable {
    /// How far the cloud's clock has been advanced, in seconds.
    var clockOffset = 0.0
    var junction = JunctionState()
    var social = SocialState()
    var sinch = SinchState()
    var oauth = OAuthState()
}
