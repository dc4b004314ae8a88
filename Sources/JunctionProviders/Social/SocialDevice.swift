/// This installation as a device of social.plus.
///
/// The provider allows one user at a time on a device. So the id is made once, belongs to the installation and not to the
/// user, and survives a sign-out.
package struct SocialDevice: Sendable {
    let id: String
    let version: String

    /// Makes the device from the installation's id (1 to 150 characters) and the daemon's version.
    package init(id: String, version: String) {
        self.id = id
        self.version = version
    }

    var kind: String { "linux" }
    var model: String { "junctiond" }
}
