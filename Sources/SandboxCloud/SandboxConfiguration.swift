/// How a sandbox is started.
package struct SandboxConfiguration: Sendable {
    package var listen: ListenAddress
    package var settings = Settings()
    /// The file that the state is kept in; without it, a restart forgets everything.
    package var stateFile: String?
    /// Where a TLS front stands before the sandbox, which itself speaks plain HTTP.
    package var front: FrontOrigin?
    /// The application that Sinch registers users for.
    package var sinch = SinchApplication.published

    /// A sandbox on that address, with the vendor's usual terms and no memory.
    package init(listen: ListenAddress) {
        self.listen = listen
    }

    /// What clients put before the authority.
    var scheme: String { front == nil ? "http" : "https" }

    /// The origin for clients, once the port is known.
    func origin(port: Int) -> String { front?.text ?? "http://\(listen.authority(port: port))" }
}
