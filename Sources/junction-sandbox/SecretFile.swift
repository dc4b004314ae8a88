import ArgumentParser
import Glibc
import RegistrationToken

/// A file that holds an application secret: the one way in which a secret is taken, since others can read arguments.
struct SecretFile {
    let path: String
    /// The Base64 text, as the file has it.
    let text: [UInt8]

    init(_ path: String) throws(ValidationError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ValidationError("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        self.path = path
        text = readToEnd(descriptor, atMost: ApplicationSecret.longestText + 1)
    }

    /// What the text stands for.
    func secret() throws(ValidationError) -> ApplicationSecret {
        do {
            return try ApplicationSecret(base64: text)
        } catch {
            throw ValidationError("\(path): \(error)")
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
