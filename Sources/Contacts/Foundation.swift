// Apple's Contacts re-exports Foundation, so source code with `import Contacts` alone uses `Data`, `NSPredicate`,
// `DateComponents` and `NotificationCenter`.
@_exported import Foundation
