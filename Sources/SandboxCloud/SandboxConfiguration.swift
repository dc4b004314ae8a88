/// How a sandbox is started.
package struct SandboxConfiguration: Sendable {
    /// The PEM files with which the sandbox serves TLS.
    package struct TLSFiles: Sendable {
        let certificate: String
        let key: String

        /// The certificate with its chain, and the key to it.
        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    package var listen: ListenAddress
    package var settings = Settings()
    /// The file that the state is kept in; without it, a restart forgets everything.
    package var stateFile: String?
    package var tls: TLSFiles?
    /// The application that Sinch registers users for.
    package var sinch = SinchApplication.published

    /// A sandbox on that address, with the vendor's usual terms and no memory.
    package init(listen: ListenAddress) {
        self.listen = listen
    }

    var scheme: String { tls == nil ? "http" : "https" }
}
