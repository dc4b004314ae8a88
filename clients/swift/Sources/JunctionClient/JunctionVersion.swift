/// The version of this library, and of the `junctionctl` that is built on it.
public enum JunctionVersion {
    /// The version that `junctionctl --version` prints.
    public static let current = "0.1.0"
}
