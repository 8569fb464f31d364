import Foundation

extension NSCoder {
    /// Decodes a list of strings; returns `nil` if there is none.
    func decodeTexts(forKey name: String) -> [String]? {
        (decodeObject(of: [NSArray.self, NSString.self], forKey: name) as? [NSString])?.map { $0 as String }
    }
}
