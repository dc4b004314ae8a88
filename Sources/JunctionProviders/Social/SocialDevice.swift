/// This installation as social.plus knows it.
///
/// The vendor lets one user at a time use a device, so the id is made once, belongs to the installation and not to
/// the user, and survives a sign-out.
package struct SocialDevice: Sendable {
    let id: String
    let version: String

    /// Takes the installation's own id, 1 to 150 characters, and the daemon's version.
    package init(id: String, version: String) {
        self.id = id
        self.version = version
    }

    var kind: String { "linux" }
    var model: String { "junctiond" }
}
