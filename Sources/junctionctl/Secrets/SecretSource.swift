import Glibc
import JunctionClient
import JunctionProtocol
import JunctionSecret

/// The source of a secret. It is never an argument, because every user of the machine can read those.
enum SecretSource {
    case standardInput
    /// - Parameter option: the option that named the file. Errors name it instead of the path, which may be a secret.
    case file(String, option: String)
    /// The output of a command, which runs when the secret is needed.
    case command(ShellCommand)

    /// Creates the source for the value of a file option; `-` is standard input.
    init(file: String, of option: String) {
        self = file == "-" ? .standardInput : .file(file, option: option)
    }

    /// Reads the secret.
    ///
    /// - Parameter name: the name of the secret for the prompt and for errors, such as `Sign-In Token`.
    func read(_ name: String) throws -> SecretText {
        switch self {
        case .standardInput:
            return try read(name, from: STDIN_FILENO)
        case .file(let path, let option):
            let file = try openFile(path, givenTo: option)
            defer { close(file) }
            warnIfReadableByAll(file, option)
            return try read(name, from: file)
        case .command(let command):
            return try command.secretOutput(name)
        }
    }

    private func read(_ name: String, from file: Int32) throws -> SecretText {
        try Terminal(file)?.secret(name) ?? SecretText(readingSecret: name, from: file)
    }

    private func warnIfReadableByAll(_ file: Int32, _ option: String) {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & S_IROTH != 0 else {
            return
        }
        StandardError.note(
            "warning: every user of this machine can read the file given to \(option): run 'chmod o-r' on it"
        )
    }
}

/// Opens a file for reading.
///
/// - Parameter option: the option that named the file. The error names the option instead of the path, which may be a
///   secret that was given in place of a file.
func openFile(_ path: String, givenTo option: String) throws -> Int32 {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw CommandFailure(unreadableFileOf: option, errno) }
    return file
}

extension CommandFailure {
    init(unreadableFileOf option: String, _ number: Int32) {
        self.init(
            "the file given to \(option) cannot be read: \(String(cString: strerror(number)))",
            kind: "fileUnreadable",
            remedy: "name a file that you may read",
            status: .usage
        )
    }
}

extension SecretText {
    /// In bytes. A token has a few kilobytes, so longer input is not a token.
    static let longest = 64 << 10

    /// Reads all input without the white space around it, directly into memory that is wiped.
    ///
    /// - Parameters:
    ///   - deadline: when all input must be there.
    ///   - limit: the largest length in bytes.
    ///   - tend: called about ten times a second while there is no input.
    init(
        readingSecret name: String,
        from file: Int32,
        by deadline: Deadline = .never,
        atMost limit: Int = longest,
        whileWaiting tend: (() -> Void)? = nil
    ) throws {
        try self.init(name, atMost: limit) { buffer in
            try readAll(name, from: file, into: buffer, by: deadline, tend)
        }
    }

    /// Reads all input as it is, which may be nothing or bytes that are no UTF-8.
    init(readingAll name: String, from file: Int32) throws {
        let input = try Secret(capacity: Self.longest + 1) { buffer in
            let count = try readAll(name, from: file, into: buffer)
            guard count <= Self.longest else { throw CommandFailure(tooLong: name, Self.longest) }
            return count
        }
        self.init(SharedSecret(input))
    }

    /// Lets `fill` write into memory that is wiped, and removes the white space around the text.
    ///
    /// - Parameter fill: gets space for one byte more than the limit.
    init(
        _ name: String,
        atMost limit: Int = longest,
        filling fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        let secret = try Secret(capacity: limit + 1) { buffer in
            let count = try fill(buffer)
            guard count <= limit else { throw CommandFailure(tooLong: name, limit) }
            let length = trim(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
            let text = UnsafeRawBufferPointer(rebasing: buffer[..<length])
            guard isText(text) else { throw CommandFailure(noText: name) }
            return length
        }
        guard secret.count > 0 else { throw CommandFailure(unreadable: name, CommandFailure.absence) }
        self.init(SharedSecret(secret))
    }
}

extension CommandFailure {
    fileprivate static let absence = "there is none"

    /// Whether the error says that there was no secret.
    var isAboutAbsence: Bool { kind == "secretUnreadable" && what.hasSuffix(": \(Self.absence)") }

    init(unreadable name: String, _ why: String, remedy: String = "give it on standard input or in a file") {
        self.init("the \(name) cannot be read: \(why)", kind: "secretUnreadable", remedy: remedy, status: .usage)
    }

    fileprivate init(tooLong name: String, _ limit: Int) {
        self.init(
            unreadable: name,
            "it is longer than \(limit) bytes",
            remedy: "check that this is the right input or file: what belongs here is much shorter"
        )
    }

    /// This program checks it, because the daemon could only report invalid JSON.
    fileprivate init(noText name: String) {
        self.init(
            unreadable: name,
            "it is no text in UTF-8",
            remedy: "give the \(name) itself, as it was handed out: not compressed, encrypted or in another encoding"
        )
    }
}

/// Whether the bytes are UTF-8. It makes no copy.
private func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) != nil
}

/// Reads until the input ends or the space is full.
///
/// - Returns: the number of bytes.
private func readAll(
    _ name: String,
    from file: Int32,
    into buffer: UnsafeMutableRawBufferPointer,
    by deadline: Deadline = .never,
    _ tend: (() -> Void)? = nil
) throws -> Int {
    var count = 0
    while count < buffer.count {
        guard hasInput(file, by: deadline, tend) else { throw CommandFailure(unreadable: name, "it takes too long") }
        let received = Glibc.read(file, buffer.baseAddress! + count, buffer.count - count)
        if received < 0, errno == EINTR { continue }
        guard received >= 0 else { throw CommandFailure(unreadable: name, String(cString: strerror(errno))) }
        if received == 0 { break }
        count += received
    }
    return count
}

/// Waits for input or its end. It returns at once without a deadline and a callback, because read(2) waits as well.
private func hasInput(_ file: Int32, by deadline: Deadline, _ tend: (() -> Void)?) -> Bool {
    guard deadline != .never || tend != nil else { return true }
    var waited = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    while true {
        let left = deadline.pollTimeout
        // The longest delay after ^Z is a tenth of a second, which a user does not notice.
        if poll(&waited, 1, tend == nil ? left : left < 0 ? 100 : min(left, 100)) > 0 { return true }
        tend?()
        if deadline.hasPassed { return false }
    }
}

/// Moves the text without white space around it to the front, and returns its length.
private func trim(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let start = bytes.firstIndex(where: { !isSpace($0) }),
        let last = bytes.lastIndex(where: { !isSpace($0) })
    else { return 0 }
    let count = last + 1 - start
    memmove(bytes.baseAddress!, bytes.baseAddress! + start, count)
    return count
}
