import Glibc
import JunctionProtocol

/// A terminal that prompts for a secret without echo.
struct Terminal {
    private let descriptor: Int32
    private let usual: termios

    /// Returns nil if the descriptor is not a terminal.
    init?(_ descriptor: Int32) {
        var attributes = termios()
        guard tcgetattr(descriptor, &attributes) == 0 else { return nil }
        self.descriptor = descriptor
        usual = attributes
    }

    /// Prompts for the secret, and waits for the end of the line.
    func secret(_ name: String) throws -> SecretText {
        // After ^Z, the prompt is repeated.
        while true {
            if let secret = try interruptibleSecret(name) { return secret }
        }
    }

    /// A signal came before the end of the line.
    private struct Interruption: Error {}

    /// - Returns: nil if a signal came that did not end the program.
    private func interruptibleSecret(_ name: String) throws -> SecretText? {
        let signals = try CaughtSignals(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP)
        // The terminal is restored before this runs.
        defer { signals.release() }
        do {
            return try typedSecret(name, signals)
        } catch is Interruption {
            return nil
        }
    }

    private func typedSecret(_ name: String, _ signals: CaughtSignals) throws -> SecretText {
        begin(prompt: "\(name): ")
        defer { end() }
        return try SecretText(name) { buffer in
            var line = TypedLine(in: buffer, keys: keys)
            while let byte = try nextByte(name, signals), line.take(byte) {}
            return line.count
        }
    }

    /// Returns the next byte, or nil at the end of the input.
    private func nextByte(_ name: String, _ signals: CaughtSignals) throws -> UInt8? {
        guard signals.waitForInput(from: descriptor) else { throw Interruption() }
        var byte: UInt8 = 0
        let count = read(descriptor, &byte, 1)
        // If the other end of a terminal is closed, read(2) returns EIO instead of 0.
        guard count >= 0 || errno == EIO else {
            throw CommandFailure(unreadable: name, String(cString: strerror(errno)))
        }
        return count > 0 ? byte : nil
    }

    /// Turns echo and line editing off. The keys that send signals still work.
    private func begin(prompt: String) {
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON)
        silent.c_iflag |= tcflag_t(ICRNL)
        withUnsafeMutableBytes(of: &silent.c_cc) { keys in
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        tcsetattr(descriptor, TCSAFLUSH, &silent)
        StandardError.write(prompt)
    }

    private func end() {
        var usual = usual
        // Further input is discarded, because it may be a part of the secret.
        tcsetattr(descriptor, TCSAFLUSH, &usual)
        StandardError.write("\n")
    }

    private var keys: TypedLine.Keys {
        withUnsafeBytes(of: usual.c_cc) { keys in
            // A disabled key has the value zero.
            func set(_ names: Int32...) -> [UInt8] { names.map { keys[Int($0)] }.filter { $0 != 0 } }
            return TypedLine.Keys(erase: set(VERASE) + [0x08, 0x7F], kill: set(VKILL, VWERASE), end: set(VEOF))
        }
    }
}
