/// The name that this module adds to the app's output.
public let name = "VCard"
