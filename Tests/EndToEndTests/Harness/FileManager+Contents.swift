import Foundation

extension FileManager {
    /// Returns the path and the contents of every file below a folder.
    func contents(below folder: String) -> [(path: String, bytes: Data)] {
        (subpaths(atPath: folder) ?? []).compactMap { name in
            let path = folder + "/" + name
            return contents(atPath: path).map { (path, $0) }
        }
    }

    func mode(of path: String) -> Int? {
        (try? attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }
}
