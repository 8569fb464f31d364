#ifndef PEER_H
#define PEER_H

#include <libebook/libebook.h>

// An app that uses evolution-data-server. It opens the built-in address book through libebook, as GNOME's
// programs do.

/// The values by which the app can search for one contact.
typedef struct {
    char *uid;
    char *phone;
    char *email;
} Person;

typedef struct {
    EBookClient *client;
    /// The elements are of type `Person`.
    GArray *people;
    /// The first three letters of given names, each once.
    GPtrArray *letters;
    /// Counts the queries, so that each differs from the one before.
    guint next;
} Book;

/// Opens the built-in address book.
///
/// - Parameter isDirect: whether this process reads the book's file itself, instead of reading over D-Bus.
void book_open(Book *book, gboolean isDirect);
/// Reads every contact and returns the number of persons that it found.
gint64 book_learn(Book *book);
/// Returns the next contact, in an order that differs from the book's.
const Person *book_next(Book *book);
/// A query for every contact. The file backend of evolution-data-server 3.46 refuses `#t`.
extern const char *const everyContact;

// Each of these returns the time of each run in nanoseconds. Those that read stop after `count` runs, or
// after four seconds and at least three runs.
GArray *fetch_contacts(Book *book, guint count);
GArray *fetch_by_name(Book *book, guint count);
GArray *fetch_by_phone(Book *book, guint count);
GArray *fetch_by_email(Book *book, guint count);
GArray *fetch_pages(Book *book, guint count);
GArray *fetch_all(Book *book, guint count);
GArray *change_contacts(Book *book, guint count);

/// Waits for a line of input, then fetches without a pause for this time. Returns the number of contacts and
/// the nanoseconds.
GArray *storm(Book *book, guint milliseconds, guint seed);
/// Adds the cards of a file, 500 in each call. Returns the total nanoseconds.
gint64 import_file(Book *book, const char *path);
/// Adds each card of a file with a separate call. Returns the nanoseconds of each call.
GArray *add_file(Book *book, const char *path);
/// Changes contacts with pauses. Returns each call's start on the monotonic clock, and its nanoseconds.
GArray *change_slowly(Book *book, guint count);
/// Prints 0 when it is listening. Returns the times at which it was notified of `count` changes.
GArray *watch(Book *book, guint count);

gint64 now(void);
/// Prints numbers on one line.
void say(const gint64 *numbers, guint count);
/// Prints the error and ends the process. The benchmark reads the text instead of numbers.
void fail(const char *task, GError *error) G_GNUC_NORETURN;

#endif
