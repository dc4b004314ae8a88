import Glibc

/// The kernel's facts about a process.
enum ProcessFacts {
    /// Memory of one or more processes, in kB.
    struct Memory {
        var resident = 0
        var proportional = 0
        var privateDirty = 0
    }

    static func memory(of processes: [Int32]) throws -> Memory {
        var memory = Memory()
        for process in processes {
            let path = "/proc/\(process)/smaps_rollup"
            let lines = try contents(of: path)
            memory.resident += try number("Rss:", in: lines, path)
            memory.proportional += try number("Pss:", in: lines, path)
            memory.privateDirty += try number("Private_Dirty:", in: lines, path)
        }
        return memory
    }

    /// The number of runs of each thread so far, by its id, with its name.
    static func switches(of processes: [Int32]) throws -> [Int32: (name: String, count: Int)] {
        var threads: [Int32: (name: String, count: Int)] = [:]
        for process in processes {
            for thread in numbers(in: "/proc/\(process)/task") {
                let path = "/proc/\(process)/task/\(thread)/status"
                guard let lines = try? contents(of: path) else { continue }
                let name = lines.first { $0.hasPrefix("Name:") }?.dropFirst(6) ?? "?"
                let count = try ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"].reduce(0) {
                    try $0 + number($1, in: lines, path)
                }
                threads[thread] = (String(name), count)
            }
        }
        return threads
    }

    static func family(of process: Int32) -> [Int32] {
        let threads = numbers(in: "/proc/\(process)/task")
        let children = threads.flatMap { thread -> [Int32] in
            let lines = (try? contents(of: "/proc/\(process)/task/\(thread)/children")) ?? []
            return lines.flatMap { $0.split(separator: " ").compactMap { Int32($0) } }
        }
        return [process] + children.flatMap(family)
    }

    /// Returns the lines of a file.
    static func contents(of path: String) throws -> [Substring] {
        guard let file = fopen(path, "r") else { throw Trouble("\(path): \(String(cString: strerror(errno)))") }
        defer { fclose(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    private static func number(_ label: String, in lines: [Substring], _ path: String) throws -> Int {
        guard let line = lines.first(where: { $0.hasPrefix(label) }),
            let number = line.dropFirst(label.count).split(whereSeparator: \.isWhitespace).first.flatMap({ Int($0) })
        else { throw Trouble("\(path) has no \(label)") }
        return number
    }

    private static func numbers(in folder: String) -> [Int32] {
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        var numbers: [Int32] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = Int32(name) { numbers.append(number) }
        }
        return numbers
    }
}
