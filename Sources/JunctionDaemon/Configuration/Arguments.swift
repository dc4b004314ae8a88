/// The options of the command line; `nil` if the option is absent.
package struct Arguments: Equatable, Sendable {
    package var configuration: String?
    package var socket: String?
    package var stateDirectory: String?
}
