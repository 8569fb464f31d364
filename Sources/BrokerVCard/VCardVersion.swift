/// A vCard version. The raw value is the text of the VERSION property.
public enum VCardVersion: String, CaseIterable, Hashable, Sendable {
    /// Phones and Outlook still send it. It is read but never written.
    case v2_1 = "2.1"
    /// RFC 2426. Apple's programs and Android read this version best.
    case v3_0 = "3.0"
    /// RFC 6350, with the parameters of RFC 8605 and RFC 9554.
    case v4_0 = "4.0"
}
