// The picker, the access button and the card view controller draw nothing, so they are in Contacts. Source code for
// Apple's systems imports this module for them.
@_exported import Contacts
