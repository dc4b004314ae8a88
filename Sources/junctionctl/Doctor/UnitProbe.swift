import JunctionProtocol
import JunctionText

/// The state of the daemon's units, as the service manager reports it.
struct UnitProbe: Equatable {
    /// One unit, with its requested properties.
    struct Unit: Equatable {
        var name: String
        var properties: [String: String]

        subscript(_ property: String) -> String { properties[property] ?? "" }

        /// The state of the unit in one line.
        var summary: String {
            let words = [
                "LoadState", "ActiveState", "SubState", "UnitFileState", "Result", "ExecMainStatus", "NRestarts",
            ]
            .compactMap { key in properties[key].map { "\(key)=\($0)" } }
            let status = self["StatusText"]
            return "\(name): " + words.joined(separator: " ") + (status.isEmpty ? "" : " \"\(status)\"")
        }
    }

    private static let names = [
        "junctiond.service", "junctiond.socket", "junctiond-courier.socket", "junctiond-key-init.service",
        "junction-online.service", "junction-online.target",
    ]
    private static let properties =
        "Id,LoadState,ActiveState,SubState,UnitFileState,Result,ExecMainStatus,NRestarts,StatusText"

    let instance: InstanceName
    var units: [Unit]

    /// Asks the service manager. Returns nil if it does not answer.
    init?(of instance: InstanceName) {
        let arguments = ["show", "--no-pager", "--property=\(Self.properties)"] + Self.names.map(instance.unit)
        guard let output = ProgramOutput(of: "systemctl", arguments), output.status == 0 else { return nil }
        self.init(of: instance, reading: output.text)
    }

    /// Parses the output of `systemctl show`: a paragraph for each unit.
    init(of instance: InstanceName = .plain, reading text: String) {
        self.instance = instance
        var paragraphs: [[String: String]] = [[:]]
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            if line.isEmpty { paragraphs.append([:]) }
            guard let mark = line.firstIndex(of: "=") else { continue }
            paragraphs[paragraphs.count - 1][String(line[..<mark])] = String(line[line.index(after: mark)...])
        }
        units = paragraphs.compactMap { properties in properties["Id"].map { Unit(name: $0, properties: properties) } }
    }

    /// Returns the unit of this installation for the unit of the plain one.
    private func unit(_ plain: String) -> Unit? {
        units.first { $0.name == instance.unit(plain) && $0["LoadState"] != "not-found" }
    }

    /// The service in commands of remedies.
    private var name: String { "junctiond\(instance.suffix)" }

    var checks: [Diagnosis.Check] {
        guard let service = unit("junctiond.service"), let socket = unit("junctiond.socket") else {
            return [
                .init(
                    name: "units",
                    verdict: .note,
                    detail: "\(instance.service) is not installed: nothing starts the daemon by itself",
                    remedy: "install the package, or start junctiond by hand"
                )
            ]
        }
        return [masked(service), masked(socket), of(service), of(socket), keyInit, helper].compactMap(\.self)
            + [enabled(service, socket)]
    }

    private func masked(_ unit: Unit) -> Diagnosis.Check? {
        guard unit["LoadState"] == "masked" else { return nil }
        return problem("\(unit.name) is masked: it cannot start", "systemctl unmask \(unit.name)")
    }

    private func of(_ unit: Unit) -> Diagnosis.Check? {
        switch (unit["ActiveState"], unit.name) {
        case ("failed", instance.service):
            return problem("\(unit.name) has failed: \(ending(of: unit))", remedy(for: unit["ExecMainStatus"]))
        case ("failed", _):
            return problem(
                "\(unit.name) has failed (\(unit["Result"])): nobody can connect",
                "mend what 'journalctl -u \(name)' tells of, then: systemctl restart \(unit.name)"
            )
        case ("inactive", instance.unit("junctiond.socket")):
            return problem("\(unit.name) is not started: nobody can connect", "systemctl start \(unit.name)")
        default: return nil
        }
    }

    private func ending(of unit: Unit) -> String {
        unit["Result"] == "exit-code" ? "it ended with exit code \(unit["ExecMainStatus"])" : unit["Result"]
    }

    private func remedy(for status: String) -> String {
        switch status {
        case "64": "correct ExecStart= of the unit: systemctl cat \(instance.service)"
        case "73": "see 'journalctl -u \(name)': the socket or the state directory cannot be made"
        case "75": "see 'journalctl -u \(name)': another daemon runs, or the name service is away"
        case "78": "correct the configuration, then: systemctl restart \(name)"
        default: "see 'journalctl -u \(name)', then: systemctl restart \(name)"
        }
    }

    private var keyInit: Diagnosis.Check? {
        guard let unit = unit("junctiond-key-init.service"), unit["ActiveState"] == "failed" else { return nil }
        return problem(
            "\(unit.name) has failed: there may be no sealing key",
            "see 'journalctl -u \(unit.name)'"
        )
    }

    private var helper: Diagnosis.Check? {
        guard let unit = unit("junctiond-courier.socket") else { return nil }
        if unit["LoadState"] == "masked" { return masked(unit) }
        guard unit["ActiveState"] == "failed" else { return nil }
        return problem(
            "\(unit.name) has failed: the daemon has no way to the network",
            "systemctl restart \(unit.name)"
        )
    }

    private func enabled(_ service: Unit, _ socket: Unit) -> Diagnosis.Check {
        let remedy = "systemctl enable \(service.name): then the session is renewed from boot on"
        if service["UnitFileState"].hasPrefix("enabled") {
            return .init(name: "start at boot", verdict: .ok, detail: "\(service.name) is enabled")
        }
        guard socket["UnitFileState"].hasPrefix("enabled") else {
            return .init(
                name: "start at boot",
                verdict: .problem,
                detail: "neither \(service.name) nor its socket is enabled: after a reboot nothing starts it",
                remedy: remedy
            )
        }
        return .init(
            name: "start at boot",
            verdict: .note,
            detail: "\(service.name) is not enabled: after a reboot it starts only when a client connects",
            remedy: remedy
        )
    }

    private func problem(_ detail: String, _ remedy: String) -> Diagnosis.Check {
        .init(name: "units", verdict: .problem, detail: detail, remedy: remedy)
    }
}

extension InstanceName {
    /// The daemon's unit.
    var service: String { unit("junctiond.service") }

    /// Returns the unit of this installation for a unit of the plain one: `junctiond@work.socket` for `junctiond.socket`.
    func unit(_ plain: String) -> String {
        guard let dot = plain.lastIndex(of: ".") else { return plain }
        return plain[..<dot] + suffix + plain[dot...]
    }
}
