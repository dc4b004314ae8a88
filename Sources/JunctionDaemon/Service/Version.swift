/// The name and the version of this build: in `--version`, `daemon.info`, the metrics and the log.
package enum Version {
    package static let name = "junctiond"
    package static let number = "0.1.0"
}
