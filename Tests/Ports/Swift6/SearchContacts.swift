import Contacts
import Foundation

class ContactSearcher {
    let contactStore = CNContactStore()

    func search(name: String, completion: @escaping ([CNContact], Error?) -> Void) {
        let status = CNContactStore.authorizationStatus(for: .contacts)
        switch status {
        case .authorized, .limited:
            fetch(name, completion)
        case .notDetermined:
            contactStore.requestAccess(for: .contacts) { granted, error in
                if granted {
                    self.fetch(name, completion)
                } else {
                    completion([], error)
                }
            }
        case .denied, .restricted:
            completion([], CNError(.authorizationDenied))
        @unknown default:
            completion([], nil)
        }
    }

    private func fetch(_ name: String, _ completion: ([CNContact], Error?) -> Void) {
        let predicate = CNContact.predicateForContacts(matchingName: name)
        let keys: [CNKeyDescriptor] = [
            CNContactGivenNameKey as NSString, CNContactFamilyNameKey as NSString,
            CNContactOrganizationNameKey as NSString,
            CNContactImageDataAvailableKey as NSString, CNContactThumbnailImageDataKey as NSString,
        ]
        do {
            let contacts = try contactStore.unifiedContacts(matching: predicate, keysToFetch: keys)
            completion(contacts, nil)
        } catch {
            completion([], error)
        }
    }
}

func searchContacts(_ name: String) {
    let done = DispatchSemaphore(value: 0)
    ContactSearcher().search(name: name) { contacts, error in
        if let error = error as? CNError, error.code == .authorizationDenied {
            print("denied: \(error.localizedDescription)")
        } else if let error = error as NSError? {
            print("failed: \(error.domain) \(error.code)")
        }
        for contact in contacts {
            print("\(contact.givenName) \(contact.familyName)\(contact.imageDataAvailable ? " (photo)" : "")")
        }
        done.signal()
    }
    done.wait()
}
