import JunctionTesting
import Testing

/// A process of its own that connects as an ordinary user, and keeps still until it is to end. The test has the other end
/// of the same connection in hand, as whoever inherits a descriptor has.
final class ConnectingProcess {
    let connection: TestClient
    var process: Int32 { child.program.identifier }
    private let child: TalkingProgram

    init(_ path: String, as caller: OrdinaryCaller = OrdinaryCaller()) throws {
        connection = TestClient(adopting: TestAddress.path(path).makeSocket())
        // Perl is part of every Debian, and speaks with sockets.
        let script = """
            use Socket; open(my $s, "+<&=", 3) or die;
            $) = "\(caller.group) \(caller.group)"; $( = \(caller.group); ($<, $>) = (\(caller.user)) x 2;
            connect($s, sockaddr_un($ARGV[0])) or die; syswrite(STDOUT, "c"); sysread(STDIN, my $end, 1);
            """
        child = try TalkingProgram(
            "/usr/bin/perl",
            ["-e", script, path],
            in: TemporaryFolder(),
            isDialogue: true,
            passing: [connection.socket.descriptor]
        )
        try #require(try child.lines.bytes(1).count == 1, "The child could not connect: \(child.program.errors)")
    }

    /// Ends the process, and returns when nothing is left of it.
    func end() throws {
        child.stopListening()
        try child.program.wait()
    }
}
