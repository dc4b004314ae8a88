import Dispatch
import Glibc
import JunctionServer
import JunctionSession
import JunctionSystemd
import Logging
import NIOCore

/// Reads the configuration again, for SIGHUP and for `daemon.reload`. If the new configuration is refused, nothing
/// changes.
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

    enum Outcome: Equatable {
        /// The configuration is in force, except for these settings, which wait for a restart.
        case inForce(pendingRestart: [String])
        /// The configuration is in force, and the daemon can start anew now: `isUnused` holds, and `SessionOwner.isInUse`
        /// does not.
        case startsAnew
    }

    /// Reads files and asks name services, so do not call it on the event loop.
    func run() throws(StartFailure) -> Outcome {
        notifier.tell(.reloading(atMonotonicMicroseconds: ServiceManagerMessage.monotonicMicroseconds()))
        do throws(StartFailure) {
            let outcome = try apply(try configuration.sound())
            // The restarted program reports itself when it is ready.
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
        // Only a start can show whether a new socket can be created, so this setting waits for `systemctl restart`.
        let canStartAnew = !pending.isEmpty && !pending.contains("api.socket")
        // One step on the loop: the new rules are in force before a caller gets the answer about the reload. No user
        // can sign in between the check and the new rules, and none after it if the next start has another provider:
        // that start would refuse the session.
        let taken = loop.submit { () -> Result<Bool, StartFailure> in
            Result { () throws(StartFailure) in
                try sound.check(mayHave: owner.assumeIsolated { $0.snapshot.facts.sessionProvider })
                server.reload(policy: policy, exposesApi: new.api.expose)
                return owner.assumeIsolated { owner in
                    // Sign-ins that this refuses no longer wait, so they do not prevent the start.
                    owner.refuseSignIns(pending.contains("provider") ? .waitsForRestart : nil)
                    let startsAnew = canStartAnew && owner.snapshot.facts.isUnused && !owner.isInUse
                    if startsAnew { owner.refuseSignIns(.startsAnew) }
                    return startsAnew
                }
            }
        }
        let startsAnew: Bool
        do {
            startsAnew = try taken.wait().get()
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure(.internal, "The event loop accepts no tasks: \(error)")
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
                "The daemon starts anew, because there is no session to keep and settings take effect at a start only",
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
        // This runs on the loop, so that it does not overwrite a newer state.
        try? loop.submit { [eventLog, owner] in
            eventLog.reloaded(owner.assumeIsolated { $0.snapshot.facts }, pendingRestart: pending)
        }.wait()
        return .inForce(pendingRestart: pending)
    }
}

extension SessionError {
    fileprivate static let startsAnew = SessionError(
        .busy,
        "The daemon starts anew with changed settings, and nothing was sent to the provider",
        retryAfter: .seconds(1),
        remedy: "sign in again: the daemon is back in some seconds"
    )
    /// The server adds the settings and the command.
    fileprivate static let waitsForRestart = SessionError(
        .misconfigured,
        "The configuration names another provider than this process has, and nothing was sent to the provider"
    )
}

extension Snapshot.Facts {
    /// The provider of the session, if there is a session or a sign-in has begun. A restart would find the same one.
    var sessionProvider: String? { state == .notLoggedIn && flags.isEmpty && authorization == nil ? nil : provider }

    /// Whether there is no session or a terminated one, no sign-in is under way, and a process that starts now would
    /// find the same state.
    fileprivate var isUnused: Bool {
        (sessionProvider == nil || state == .terminated) && authorization == nil && storage.status == .ok
            && storage.durable
    }
}
