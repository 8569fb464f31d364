import CICU
import ContactsModel

/// The form of a name by which contacts are put in order: comparing bytes compares names.
public enum CollationKey {
    /// Keys are cut here. Longer names that agree so far stand in the order of their record numbers.
    public static let maximumSize = 192
}
