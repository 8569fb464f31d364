#ifndef PEER_H
#define PEER_H

#include <libebook/libebook.h>

// An app of evolution-data-server. It uses the built-in address book by libebook, as GNOME's programs do.

/// What the app knows of one contact, so that it has something to look for.
typedef struct {
    char *uid;
    char *phone;
    char *email;
} Person;

typedef struct {
    EBookClient *client;
    /// Of `Person`.
    GArray *people;
    /// The first three letters of given names, each once.
    GPtrArray *letters;
    /// Counts what was asked for, so that each question differs from the one before.
    guint next;
} Book;

/// Opens the built-in address book.
///
/// - Parameter isDirect: reads come from the book's file, which this process then opens itself, and not over D-Bus.
void book_open(Book *book, gboolean isDirect);
/// Reads every contact; answers how many there are.
gint64 book_learn(Book *book);
/// The next contact, in no order that the book has.
const Person *book_next(Book *book);
/// A query for every contact. The file backend of evolution-data-server 3.46 refuses `#t`.
extern const char *const everyContact;

// Each of these answers with the nanoseconds of each time that it was done. Those that read stop after `count` times, or
// sooner once four seconds have passed and they were done three times.
GArray *fetch_contacts(Book *book, guint count);
GArray *fetch_by_name(Book *book, guint count);
GArray *fetch_by_phone(Book *book, guint count);
GArray *fetch_by_email(Book *book, guint count);
GArray *fetch_pages(Book *book, guint count);
GArray *fetch_all(Book *book, guint count);
GArray *change_contacts(Book *book, guint count);

/// Fetches for so long without a pause, after a line of input; answers how many contacts, and nanoseconds.
GArray *storm(Book *book, guint milliseconds, guint seed);
/// Adds the cards of a file, 500 in each call; answers nanoseconds of it all.
gint64 import_file(Book *book, const char *path);
/// Adds each card of a file by a call of its own.
GArray *add_file(Book *book, const char *path);
/// Changes contacts with pauses; answers when each call began on the monotonic clock, and its nanoseconds.
GArray *change_slowly(Book *book, guint count);
/// Answers 0 once it listens, then when each of so many changes came.
GArray *watch(Book *book, guint count);

gint64 now(void);
/// Prints numbers on one line.
void say(const gint64 *numbers, guint count);
/// Prints what went wrong, and ends the process. The benchmark reads it in place of numbers.
void fail(const char *task, GError *error) G_GNUC_NORETURN;

#endif
