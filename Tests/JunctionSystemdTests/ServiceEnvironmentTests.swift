import JunctionSystemd
import Testing

@Suite struct ServiceEnvironmentTests {
    @Test func `without variables there is no service manager`() {
        let environment = ServiceEnvironment(variables: ["HOME": "/root"], processID: 10)

        #expect(!environment.isUnderServiceManager)
        #expect(environment.notifySocket == nil)
        #expect(environment.watchdog == nil)
    }

    @Test func `passed credentials imply a service manager`() {
        let variables = ["CREDENTIALS_DIRECTORY": "/run/credentials/junctiond.service"]

        let environment = ServiceEnvironment(variables: variables, processID: 10)

        #expect(environment.isUnderServiceManager)
        #expect(environment.credentialsDirectory == "/run/credentials/junctiond.service")
    }

    @Test func `only the process that the service manager started is under it`() {
        let variables = ["SYSTEMD_EXEC_PID": "10", "NOTIFY_SOCKET": "/run/systemd/notify", "INVOCATION_ID": "x"]

        #expect(ServiceEnvironment(variables: variables, processID: 10).isUnderServiceManager)
        #expect(!ServiceEnvironment(variables: variables, processID: 11).isUnderServiceManager)
    }

    @Test func `a user's service manager is recognised only by its own services`() {
        let variables = ["SYSTEMD_EXEC_PID": "10", "MANAGERPID": "7"]

        #expect(ServiceEnvironment(variables: variables, processID: 10).isUnderUserManager)
        // A program that was started from a terminal, which is such a service.
        #expect(!ServiceEnvironment(variables: variables, processID: 11).isUnderUserManager)
        #expect(!ServiceEnvironment(variables: ["SYSTEMD_EXEC_PID": "10"], processID: 10).isUnderUserManager)
    }

    @Test func `an empty variable counts as absent`() {
        let variables = ["CREDENTIALS_DIRECTORY": "", "NOTIFY_SOCKET": ""]

        let environment = ServiceEnvironment(variables: variables, processID: 10)

        #expect(!environment.isUnderServiceManager)
        #expect(environment.notifySocket == nil)
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "120000000"], Duration.seconds(120)),
            (["WATCHDOG_USEC": "120000000", "WATCHDOG_PID": "10"], Duration.seconds(120)),
            (["WATCHDOG_USEC": "120000000", "WATCHDOG_PID": "11"], nil),
            (["WATCHDOG_USEC": "120000000", "WATCHDOG_PID": "x"], nil),
            (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "-5"], nil),
            (["WATCHDOG_USEC": "soon"], nil),
        ] as [([String: String], Duration?)]
    )
    func `a watchdog for this process is used`(variables: [String: String], expected: Duration?) {
        #expect(ServiceEnvironment(variables: variables, processID: 10).watchdog == expected)
    }
}
