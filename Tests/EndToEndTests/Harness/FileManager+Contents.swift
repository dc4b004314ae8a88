import Foundation

extension FileManager {
    /// Every plain file below a folder, with what is in it.
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
