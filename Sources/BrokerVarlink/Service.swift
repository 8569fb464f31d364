/// What a server offers at one door: what it says of itself, its interfaces, and who answers.
public struct Service: Sendable {
    public let vendor: String
    public let product: String
    public let version: String
    public let url: String
    /// Besides `org.varlink.service`, which every service has.
    public let interfaces: [InterfaceDescription]

    public init(vendor: String, product: String, version: String, url: String, interfaces: [InterfaceDescription]) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
        self.interfaces = interfaces
    }
}

/// One interface: its name and its text in Varlink's interface definition language, as it is served.
public struct InterfaceDescription: Hashable, Sendable {
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}
