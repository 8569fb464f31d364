/// The image members of a contact's JSON, which its stored form does not contain. Each begins with a comma.
public struct ContactImages: Hashable, Sendable {
    public let thumbnailImageData: [UInt8]?
    public let imageData: [UInt8]?

    public init(thumbnailImageData: [UInt8]? = nil, imageData: [UInt8]? = nil) {
        self.thumbnailImageData = thumbnailImageData
        self.imageData = imageData
    }

    public static let none = ContactImages()
}
