import Dispatch
import Glibc
import JunctionServer
import JunctionSession
import JunctionSystemd
import Logging
import NIOCore

/// Reads the configuration again, for SIGHUP and for `daemon.reload`. One that is refused changes nothing.
struct ConfigurationReload: Sendable {
    let configuration: ConfigurationFile
    let introspection: Introspection
    let log: DaemonLog
    let notifier: Notifier
    let eventLog: SessionEventLog
    let owner: SessionOwner
    let server: SessionServer
    let bootstrap: BootstrapSignIn?
    let loop: any EventLoop

    /// What became of a reload.
    enum Outcome: Equatable {
        /// The configuration is in force, but for these settings, which wait for a restart.
        case inForce(pendingRestart: [String])
        /// The same, and the daemon can start anew now: no user is signed in or is signing in, and the provider knows of every sign-out.
        case startsAnew
    }

    /// Reads files and asks name services: not to be called on the event loop.
    func run() throws(StartFailure) -> Outcome {
        notifier.tell(.reloading(atMonotonicMicroseconds: ServiceManagerMessage.monotonicMicroseconds()))
        do throws(StartFailure) {
            let outcome = try apply(try configuration.sound())
            // The program that starts anew says by itself when it is ready.
            if case .inForce = outcome { notifier.tell(.ready) }
            return outcome
        } catch {
            log.logger("daemon").error(
                "The configuration was not reloaded; the old one stays in force",
                metadata: .of(nil, [.error: "\(error.message)"])
            )
            notifier.tell(.status("The new configuration is refused, the old one is in force: \(error.message)"))
            notifier.tell(.ready)
            throw error
        }
    }

    private func apply(_ sound: ValidatedConfiguration) throws(StartFailure) -> Outcome {
        let (new, logger) = (sound.configuration, log.logger("daemon"))
        let policy = AccessPolicy(rules: sound.rules, daemonUser: getuid())
        let (server, owner) = (server, owner)
        let pending = configuration.pendingRestart(with: sound)
        // Only a start can tell whether a new socket can be made, so such a setting waits for `systemctl restart`.
        let canStartAnew = !pending.isEmpty && !pending.contains("api.socket")
        // A caller that is told of the reload must meet the new rules. No user can sign in between the question and them, and none
        // from then on if the daemon starts anew.
        let taken = loop.submit { () -> Result<Bool, StartFailure> in
            Result { () throws(StartFailure) in
                let (facts, untold) = owner.assumeIsolated { ($0.snapshot.facts, $0.untoldSignOuts) }
                try sound.check(mayHave: facts.sessionProvider)
                server.reload(policy: policy, exposesApi: new.api.expose)
                let startsAnew = canStartAnew && facts.isUnused && untold == 0
                if startsAnew { owner.assumeIsolated { $0.refuseSignIns() } }
                return startsAnew
            }
        }
        let startsAnew: Bool
        do {
            startsAnew = try taken.wait().get()
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure(.internal, "The event loop takes no work: \(error)")
        }
        for note in sound.notes { logger.warning("\(note)") }
        log.level = new.log.level
        configuration.reloaded(sound)
        introspection.accessNotes = sound.accessNotes
        let origin = sound.origin
        logger.notice(
            "The configuration was reloaded",
            metadata: .of(
                .reloaded,
                [.configuration: "\(origin.exists ? origin.path : "built-in defaults")\(origin.andFragments)"]
            )
        )
        guard !startsAnew else {
            logger.notice(
                "The daemon starts anew, because no user is signed in and settings take effect at a start only",
                metadata: .of(nil, [.settings: "\(pending.joined(separator: ", "))"])
            )
            return .startsAnew
        }
        // The service manager may have passed other credentials with the reload.
        if let bootstrap { loop.execute { bootstrap.reloaded() } }
        if !pending.isEmpty {
            logger.warning(
                "Settings were changed that take effect after a restart",
                metadata: .of(nil, [.settings: "\(pending.joined(separator: ", "))"])
            )
        }
        // On the loop, so that no newer state is overwritten.
        try? loop.submit { [eventLog, owner] in
            eventLog.reloaded(owner.assumeIsolated { $0.snapshot.facts }, pendingRestart: pending)
        }.wait()
        return .inForce(pendingRestart: pending)
    }
}

extension Snapshot.Facts {
    /// Whose session there is, if there is one or is about to be: what a restart would find.
    var sessionProvider: String? { state == .notLoggedIn && flags.isEmpty ? nil : provider }

    /// No user is signed in, none is signing in, and a process that starts now knows the same.
    fileprivate var isUnused: Bool {
        sessionProvider == nil && authorization == nil && storage.status == .ok && storage.durable
    }
}
