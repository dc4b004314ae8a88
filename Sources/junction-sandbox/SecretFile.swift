import ArgumentParser
import Glibc
import RegistrationToken

/// A file that holds an application secret: the one way in which a secret is taken, since others can read arguments.
struct SecretFile {
    /// What names the file.
    let option: String
    /// The Base64 text, as the file has it.
    let text: [UInt8]

    /// - Parameter option: what names the file. Errors name the option instead of the path, which may be a secret that was
    ///   given in place of a file.
    init(_ path: String, givenTo option: String) throws(ValidationError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ValidationError("the file given to \(option) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        self.option = option
        text = readToEnd(descriptor, atMost: ApplicationSecret.longestText + 1)
    }

    /// What the text stands for.
    func secret() throws(ValidationError) -> ApplicationSecret {
        do {
            return try ApplicationSecret(base64: text)
        } catch {
            throw ValidationError("the file given to \(option): \(error)")
        }
    }
}

/// Reads until the end, or until there are so many bytes.
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
