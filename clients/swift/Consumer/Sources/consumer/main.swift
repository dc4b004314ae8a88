import JunctionClient
import JunctionClientTesting

// Gets a token from a scripted daemon on a real socket.
let daemon = ScriptedDaemon { connection in
    connection.answer(
        connection.request(),
        #"{"accessToken":"an-access-token","tokenType":"Bearer","expiresAt":"2030-01-01T00:00:00Z","userId":"user-1"}"#
    )
}
let token = try await daemon.client.accessToken()
print(token.userId, token.accessToken.revealed() == "an-access-token" ? "has a token" : "has another token")
