/// This installation as a device of social.plus.
///
/// The provider allows one user at a time on a device. So the id is made once, belongs to the installation and not to the
/// user, and survives a sign-out.
package struct SocialDevice: Sendable {
    /// The id of the installation, 1 to 150 characters.
    let id: String
    /// The version of the daemon.
    let version: String

    var kind: String { "linux" }
    var model: String { "junctiond" }
}
