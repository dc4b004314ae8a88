import Glibc
import JunctionClient
import JunctionProtocol
import JunctionSecret

/// Where a secret comes from. Never from an argument: every user of the machine can read those.
enum SecretSource {
    case standardInput
    /// - Parameter option: what names the file, for errors; a path that is not one may be a secret.
    case file(String, option: String)
    /// What a command prints, which is run when the secret is needed.
    case command(ShellCommand)

    /// The file that was given to an option; `-` is standard input.
    init(file: String, of option: String) {
        self = file == "-" ? .standardInput : .file(file, option: option)
    }

    /// Reads the secret.
    ///
    /// - Parameter name: what it is, for the prompt and for errors: `Sign-In Token`.
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
/// - Parameter option: what names the file. The error names the option instead of the path, which may be a secret that was
///   given in place of a file.
func openFile(_ path: String, givenTo option: String) throws -> Int32 {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw CommandFailure(unreadableFileOf: option, errno) }
    return file
}

extension CommandFailure {
    /// - Parameter number: the error of the system.
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
    /// A token has a few kilobytes; whatever is longer is not one.
    static let longest = 64 << 10

    /// Reads all that comes, without the white space around it, straight into memory that is wiped.
    ///
    /// - Parameters:
    ///   - deadline: until when it has to be there, all of it.
    ///   - limit: how long it may be.
    ///   - tend: called now and then while nothing comes.
    init(
        readingSecret name: String,
        from file: Int32,
        by deadline: Deadline = .never,
        atMost limit: Int = longest,
        whileWaiting tend: (() -> Void)? = nil
    ) throws {
        try self.init(name, atMost: limit) { room in
            var count = 0
            while count < room.count {
                guard hasInput(file, by: deadline, tend) else {
                    throw CommandFailure(unreadable: name, "it takes too long")
                }
                let received = Glibc.read(file, room.baseAddress! + count, room.count - count)
                if received < 0, errno == EINTR { continue }
                guard received >= 0 else { throw CommandFailure(unreadable: name, String(cString: strerror(errno))) }
                if received == 0 { break }
                count += received
            }
            return count
        }
    }

    /// Takes what `fill` writes into memory that is wiped, without the white space around it.
    ///
    /// - Parameter fill: has space for one byte more than there may be.
    init(
        _ name: String,
        atMost limit: Int = longest,
        filling fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        let secret = try Secret(capacity: limit + 1) { room in
            let count = try fill(room)
            guard count <= limit else {
                throw CommandFailure(unreadable: name, "it is longer than \(limit) bytes")
            }
            let length = trim(UnsafeMutableRawBufferPointer(rebasing: room[..<count]))
            guard isText(UnsafeRawBufferPointer(rebasing: room[..<length])) else { throw CommandFailure(noText: name) }
            return length
        }
        guard secret.count > 0 else { throw CommandFailure(unreadable: name, CommandFailure.absence) }
        self.init(SharedSecret(secret))
    }
}

extension CommandFailure {
    fileprivate static let absence = "there is none"

    /// Whether there was no secret at all.
    var isAboutAbsence: Bool { kind == "secretUnreadable" && what.hasSuffix(": \(Self.absence)") }

    init(unreadable name: String, _ why: String) {
        self.init(
            "the \(name) cannot be read: \(why)",
            kind: "secretUnreadable",
            remedy: "give it on standard input or in a file",
            status: .usage
        )
    }
}

extension CommandFailure {
    /// Said on this side: the daemon could only say that the line is no JSON.
    fileprivate init(noText name: String) {
        self.init(
            "the \(name) cannot be read: it is no text in UTF-8",
            kind: "secretUnreadable",
            remedy: "give the \(name) itself, as it was handed out: not compressed, encrypted or in another encoding",
            status: .usage
        )
    }
}

/// Whether it is UTF-8, without a copy of it.
private func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var parser = Unicode.UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    while true {
        switch parser.parseScalar(from: &rest) {
        case .valid: continue
        case .emptyInput: return true
        case .error: return false
        }
    }
}

/// Waits for something to read, or for the end of it; not if there is no hurry, because reading waits as well.
private func hasInput(_ file: Int32, by deadline: Deadline, _ tend: (() -> Void)?) -> Bool {
    guard deadline != .never || tend != nil else { return true }
    var waited = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    while true {
        let left = deadline.pollTimeout
        // Nobody notices a tenth of a second after ^Z.
        if poll(&waited, 1, tend == nil ? left : left < 0 ? 100 : min(left, 100)) > 0 { return true }
        tend?()
        if deadline.hasPassed { return false }
    }
}

/// Moves what is between the white space to the front, and says how long it is.
private func trim(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let start = bytes.firstIndex(where: { !isSpace($0) }),
        let last = bytes.lastIndex(where: { !isSpace($0) })
    else { return 0 }
    let count = last + 1 - start
    memmove(bytes.baseAddress!, bytes.baseAddress! + start, count)
    return count
}
