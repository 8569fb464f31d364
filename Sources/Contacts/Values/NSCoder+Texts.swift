import Foundation

extension NSCoder {
    /// A list of texts; `nil` where there is none.
    func decodeTexts(forKey name: String) -> [String]? {
        (decodeObject(of: [NSArray.self, NSString.self], forKey: name) as? [NSString])?.map { $0 as String }
    }
}
