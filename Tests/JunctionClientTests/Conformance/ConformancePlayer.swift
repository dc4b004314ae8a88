import Foundation
import JunctionClient
import JunctionJSON
import JunctionProtocol
import JunctionTesting
import Synchronization
import Testing

/// Plays the client's side of a transcript, step by step, with calls of the library.
final class ConformancePlayer {
    private final class Loop {
        var snapshots: SnapshotUpdates.Iterator

        init(_ updates: SnapshotUpdates) {
            snapshots = updates.makeAsyncIterator()
        }
    }

    private final class Count: Sendable {
        private let value = Mutex(0)

        func next() -> Int {
            value.withLock { value in
                defer { value += 1 }
                return value
            }
        }
    }

    private struct Unplayable: Error {
        var step: String
    }

    private let daemon: DaemonProcess
    private var client: JunctionClient?
    private var loops: [String: Loop] = [:]

    init(_ daemon: DaemonProcess) {
        self.daemon = daemon
        client = JunctionClient(socket: daemon.socket)
    }

    /// Releases the client, which closes its connections.
    func close() {
        client = nil
        loops = [:]
    }

    func play(_ step: JSONValue) async throws {
        let client = try #require(client)
        if step["call"] != nil {
            try await call(step, client)
        } else if let calls = step["together"] {
            await together(calls, client)
        } else if step["identify"] != nil {
            try await identify(step, client)
        } else if let name = step["watch"]?.string {
            try await watch(step, name, client)
        } else if let name = step["end"]?.string {
            loops[name] = nil
        } else if let questions = step["handle"] {
            try await handle(step, Array(questions.elements), client)
        } else if step["tell"] != nil {
            daemon.tell()
        } else if step["hear"] != nil {
            #expect(try await daemon.nextLine() == "told")
        } else {
            throw Unplayable(step: String(decoding: step.rawText, as: UTF8.self))
        }
    }

    // MARK: Calls

    private func call(_ step: JSONValue, _ client: JunctionClient) async throws {
        guard step["cancelWhenHeard"]?.bool == true else { return expect(await outcome(of: step, client), step) }
        let task = Task { await outcome(of: step, client) }
        #expect(try await daemon.nextLine() == "told")
        task.cancel()
        expect(await task.value, step)
    }

    private func together(_ calls: JSONValue, _ client: JunctionClient) async {
        await withTaskGroup(of: Void.self) { group in
            for call in calls.elements { group.addTask { expect(await outcome(of: call, client), call) } }
        }
    }

    private func identify(_ step: JSONValue, _ client: JunctionClient) async throws {
        struct Raised: Error {}
        let asked = Mutex(0)
        let folder = TemporaryFolder()
        let listener = try TestListener(.path(folder.path + "/silent"))
        let silent = JunctionClient(socket: folder.path + "/silent")
        defer { withExtendedLifetime(listener) {} }
        let result: Result<JSONValue, any Error>
        do throws(IdentifyError<Raised>) {
            let timeout = step["timeout"]?.integer.map { Duration.milliseconds($0) }
            let client = client.timeout(timeout)
            let identified = try await client.identify(externalUserId: step["identify"]?.string) { _ throws(Raised) in
                asked.withLock { $0 += 1 }
                // The call began before the later, unanswered one. So its time is over when the later one times out.
                if step["late"]?.bool == true { _ = try? await silent.timeout(timeout).status() }
                guard let json = step["credential"], let credential = try? Credential(reading: expanded(json)) else {
                    throw Raised()
                }
                return credential
            }
            result = .success(json(identified))
        } catch {
            switch error {
            case .junction(let error): result = .failure(error)
            case .credential: result = .failure(JunctionError(.init(rawValue: "raised"), ""))
            }
        }
        expect(result, step)
        if let count = step["asked"]?.integer { #expect(asked.withLock { $0 } == count) }
    }

    // MARK: Loops

    private func watch(_ step: JSONValue, _ name: String, _ client: JunctionClient) async throws {
        let loop = loops[name] ?? Loop(step["states"]?.bool == true ? client.states() : client.watch())
        loops[name] = loop
        if let expected = step["next"] {
            for members in expected.elements {
                let snapshot = try #require(try await loop.snapshots.next())
                #expect(matches(json(snapshot), members), "\(snapshot)")
            }
        }
        if let members = step["until"] {
            var last: UInt64?
            while let snapshot = try await loop.snapshots.next() {
                if let last { #expect(snapshot.revision > last) }
                last = snapshot.revision
                if matches(json(snapshot), members) { break }
            }
            #expect(last != nil)
        }
        if let error = step["error"] {
            do throws(JunctionError) {
                Issue.record("Not to be seen: \(String(describing: try await loop.snapshots.next()))")
            } catch let failure {
                #expect(matches(json(failure), error), "\(failure)")
            }
        }
    }

    private func handle(_ step: JSONValue, _ questions: [JSONValue], _ client: JunctionClient) async throws {
        struct Unable: Error {}
        let count = Count()
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let duty = Task { () -> JunctionError? in
            defer { ended.finish() }
            do throws(JunctionError) {
                try await client.handleRenewals { request in
                    let index = count.next()
                    // The answer is sent even if the duty ends from here on.
                    defer { if index + 1 >= questions.count { ended.yield() } }
                    let question = try #require(index < questions.count ? questions[index] : nil)
                    if let members = question["request"] { #expect(matches(json(request), members), "\(request)") }
                    guard let answer = question["answer"], answer.kind == .object else { throw Unable() }
                    return try RenewalAnswer(reading: answer)
                }
                return nil
            } catch {
                return error
            }
        }
        for await _ in ends { break }
        duty.cancel()
        let failure = await duty.value
        if let error = step["error"] {
            #expect(failure.map { matches(json($0), error) } == true, "\(String(describing: failure))")
        } else {
            #expect(failure == nil)
            #expect(count.next() == questions.count)
        }
    }
}

private func outcome(of step: JSONValue, _ client: JunctionClient) async -> Result<JSONValue, any Error> {
    let limited = client.timeout(step["timeout"]?.integer.map { .milliseconds($0) })
    let params = step["params"].map(expanded)
    do {
        return .success(try await perform(step["call"]?.string ?? "", params, limited))
    } catch {
        return .failure(error)
    }
}

private func perform(_ name: String, _ params: JSONValue?, _ client: JunctionClient) async throws -> JSONValue {
    switch name {
    case "status": return json(try await client.status())
    case "token":
        let validity = params?["minimumValidity"]?.double.map { Duration.seconds($0) } ?? .zero
        return json(try await client.accessToken(minimumValidity: validity))
    case "signIn": return json(try await client.signIn(Credential(reading: #require(params))))
    case "signOut": return json(try await client.signOut())
    case "reconcile": return json(try await client.reconcile(userId: params?["userId"]?.string))
    case "renew": return json(try await client.renew())
    case "info": return json(try await client.info())
    case "metrics":
        let text = try await client.metrics()
        return written { writer in
            writer.beginObject()
            writer.key("text")
            writer.string(text)
            writer.endObject()
        }
    case "api": return json(try await client.call(ApiRequest(reading: #require(params))))
    default: throw JunctionError(.methodNotFound, "No transcript may call \(name) without a line here")
    }
}

private func expect(_ outcome: Result<JSONValue, any Error>, _ step: JSONValue) {
    switch outcome {
    case .success(let result):
        guard let expected = step["expect"]?["result"] else {
            Issue.record("\(text(result)) for \(text(step))")
            return
        }
        #expect(matches(result, expanded(expected)), "\(text(result).prefix(2_000)) for \(text(step))")
    case .failure(let error):
        guard let expected = step["expect"]?["error"], let error = error as? JunctionError else {
            Issue.record("\(error) for \(text(step))")
            return
        }
        #expect(matches(json(error), expected), "\(error) for \(text(step))")
    }
}

private func text(_ value: JSONValue) -> String { String(decoding: value.rawText, as: UTF8.self) }
