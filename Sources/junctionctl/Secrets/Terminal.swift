import Glibc
import JunctionProtocol

/// A terminal at which somebody is asked for a secret, without showing what is typed.
struct Terminal {
    private let descriptor: Int32
    private let usual: termios

    /// Nothing when the descriptor is not that of a terminal.
    init?(_ descriptor: Int32) {
        var attributes = termios()
        guard tcgetattr(descriptor, &attributes) == 0 else { return nil }
        self.descriptor = descriptor
        usual = attributes
    }

    /// Asks for the secret, and waits until the line is finished.
    func secret(_ name: String) throws -> SecretText {
        // Whoever comes back from ^Z is asked once more.
        while true {
            if let secret = try interruptibleSecret(name) { return secret }
        }
    }

    /// Somebody did not finish the line, but sent a signal.
    private struct Interruption: Error {}

    /// - Returns: nothing when a signal came that has not ended the program.
    private func interruptibleSecret(_ name: String) throws -> SecretText? {
        let signals = try CaughtSignals(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP)
        // The terminal is as it was by then.
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
        return try SecretText(name) { room in
            var line = TypedLine(in: room, keys: keys)
            while let byte = try nextByte(name, signals), line.take(byte) {}
            return line.count
        }
    }

    /// The next byte; nothing at the end of the input.
    private func nextByte(_ name: String, _ signals: CaughtSignals) throws -> UInt8? {
        guard signals.waitForInput(from: descriptor) else { throw Interruption() }
        var byte: UInt8 = 0
        let count = read(descriptor, &byte, 1)
        // A terminal whose other end was closed has an error in place of an end.
        guard count >= 0 || errno == EIO else {
            throw CommandFailure(unreadable: name, String(cString: strerror(errno)))
        }
        return count > 0 ? byte : nil
    }

    /// No echo, and every byte as it is typed. The keys that make signals go on doing so.
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
        // Whatever was typed behind the line is dropped: it may be more of a secret.
        tcsetattr(descriptor, TCSAFLUSH, &usual)
        StandardError.write("\n")
    }

    private var keys: TypedLine.Keys {
        withUnsafeBytes(of: usual.c_cc) { keys in
            // A key that is disabled has the number zero.
            func set(_ names: Int32...) -> [UInt8] { names.map { keys[Int($0)] }.filter { $0 != 0 } }
            return TypedLine.Keys(erase: set(VERASE) + [0x08, 0x7F], kill: set(VKILL, VWERASE), end: set(VEOF))
        }
    }
}
