/// The start options of a sandbox.
package struct SandboxConfiguration: Sendable {
    package var listen: ListenAddress
    package var settings = Settings()
    /// The file that stores the state. Without it, a restart loses everything.
    package var stateFile: String?
    /// The origin of the TLS proxy in front of the sandbox, if there is one. The sandbox itself speaks plain HTTP.
    package var front: FrontOrigin?
    package var sinch = SinchApplication.published

    /// Creates the options of a sandbox with default settings and without a state file.
    package init(listen: ListenAddress) {
        self.listen = listen
    }

    var scheme: String { front == nil ? "http" : "https" }

    func origin(port: Int) -> String { front?.text ?? "http://\(listen.authority(port: port))" }
}
