import JunctionTesting
import Testing

/// A separate process that connects as an ordinary user, and waits until the test ends it. The test holds the same
/// connection, like a process that has inherited a descriptor.
final class ConnectingProcess {
    let connection: TestClient
    var process: Int32 { child.program.identifier }
    private let child: RunningProgram

    init(_ path: String, as caller: OrdinaryCaller = OrdinaryCaller()) throws {
        connection = TestClient(adopting: TestAddress.path(path).makeSocket())
        // Perl is part of every Debian, and supports sockets.
        let script = """
            use Socket; open(my $s, "+<&=", 3) or die;
            $) = "\(caller.group) \(caller.group)"; $( = \(caller.group); ($<, $>) = (\(caller.user)) x 2;
            connect($s, sockaddr_un($ARGV[0])) or die; syswrite(STDOUT, "c"); sysread(STDIN, my $end, 1);
            """
        child = try RunningProgram(
            "/usr/bin/perl",
            ["-e", script, path],
            in: TemporaryFolder(),
            isDialogue: true,
            passing: [connection.socket.descriptor]
        )
        try #require(try child.lines.bytes(1).count == 1, "The child could not connect: \(child.program.errors)")
    }

    /// Ends the process, and waits until it is reaped.
    func end() throws {
        child.stopListening()
        try child.program.wait()
    }
}
