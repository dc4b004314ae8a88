/// The version of this library, and of the `junctionctl` that is built on it.
public enum JunctionVersion {
    /// The version, as in `junctionctl --version`.
    public static let current = "0.1.0"
}
