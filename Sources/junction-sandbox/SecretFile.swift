import ArgumentParser
import Glibc
import RegistrationToken

/// A file with an application secret. No command takes a secret as an argument, because other users can read arguments.
struct SecretFile {
    /// The option that names the file.
    let option: String
    /// The Base64 text as in the file.
    let text: [UInt8]

    /// - Parameter option: The option that names the file. Errors contain the option instead of the path, because a
    ///   user may pass the secret itself in place of a file.
    init(_ path: String, givenTo option: String) throws(ValidationError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ValidationError("the file given to \(option) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        self.option = option
        text = readToEnd(descriptor, atMost: ApplicationSecret.longestText + 1)
    }

    func secret() throws(ValidationError) -> ApplicationSecret {
        do {
            return try ApplicationSecret(base64: text)
        } catch {
            throw ValidationError("the file given to \(option): \(error)")
        }
    }
}

/// The application of a registration token.
struct ApplicationOptions: ParsableArguments {
    @Option(help: "The key of the application.")
    var applicationKey: String

    @Option(help: "A file with the application's secret, in Base64.", completion: .file())
    var secretFile: String

    func secret() throws -> ApplicationSecret { try SecretFile(secretFile, givenTo: "--secret-file").secret() }
}

/// Reads up to the end, or up to `limit` bytes.
func readToEnd(_ descriptor: Int32, atMost limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < limit {
        let count = read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        bytes += buffer[..<count]
    }
    return bytes
}
