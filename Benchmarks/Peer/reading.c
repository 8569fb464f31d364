#include "peer.h"

#include <stdio.h>
#include <string.h>

static const gint64 budget = 4 * G_GINT64_CONSTANT(1000000000);
static const guint fewest = 3;
static const guint pageSize = 50;

/// Whether a task with that start time must run again.
static gboolean goes_on(const GArray *times, guint count, gint64 start) {
    return times->len < count && (times->len < fewest || now() < start + budget);
}

static GArray *new_times(void) { return g_array_new(FALSE, FALSE, sizeof(gint64)); }

static void fetch(Book *book, const char *uid) {
    EContact *contact = NULL;
    GError *error = NULL;
    if (!e_book_client_get_contact_sync(book->client, uid, &contact, NULL, &error)) fail("fetch", error);
    g_object_unref(contact);
}

GArray *fetch_contacts(Book *book, guint count) {
    GArray *times = new_times();
    for (gint64 begin = now(); goes_on(times, count, begin);) {
        const char *uid = book_next(book)->uid;
        gint64 start = now();
        fetch(book, uid);
        gint64 time = now() - start;
        g_array_append_val(times, time);
    }
    return times;
}

/// Measures a query and frees its contacts. Fails if fewer than `least` match.
static gint64 query(Book *book, const char *text, guint least) {
    GSList *contacts = NULL;
    GError *error = NULL;
    gint64 start = now();
    if (!e_book_client_get_contacts_sync(book->client, text, &contacts, NULL, &error)) fail("query", error);
    gint64 time = now() - start;
    if (g_slist_length(contacts) < least) fail("query without a match", NULL);
    g_slist_free_full(contacts, g_object_unref);
    return time;
}

/// Fetches every match, because evolution-data-server's queries have no limit. A cursor has a limit, but
/// takes longer.
GArray *fetch_by_name(Book *book, guint count) {
    GArray *times = new_times();
    for (gint64 begin = now(); goes_on(times, count, begin);) {
        const char *letters = g_ptr_array_index(book->letters, book->next++ % book->letters->len);
        char *text = g_strdup_printf("(beginswith \"full_name\" \"%s\")", letters);
        gint64 time = query(book, text, 1);
        g_array_append_val(times, time);
        g_free(text);
    }
    return times;
}

/// Returns the number as it is stored, without its spaces, or with hyphens instead of spaces.
static char *spelled(const char *phone, guint spelling) {
    char **parts = g_strsplit(phone, " ", -1);
    char *text = g_strjoinv(spelling % 3 == 0 ? " " : spelling % 3 == 1 ? "" : "-", parts);
    g_strfreev(parts);
    return text;
}

GArray *fetch_by_phone(Book *book, guint count) {
    GArray *times = new_times();
    for (gint64 begin = now(); goes_on(times, count, begin);) {
        char *phone = spelled(book_next(book)->phone, times->len);
        char *text = g_strdup_printf("(eqphone \"phone\" \"%s\")", phone);
        gint64 time = query(book, text, 1);
        g_array_append_val(times, time);
        g_free(text);
        g_free(phone);
    }
    return times;
}

GArray *fetch_by_email(Book *book, guint count) {
    GArray *times = new_times();
    for (gint64 begin = now(); goes_on(times, count, begin);) {
        char *text = g_strdup_printf("(is \"email\" \"%s\")", book_next(book)->email);
        gint64 time = query(book, text, 1);
        g_array_append_val(times, time);
        g_free(text);
    }
    return times;
}

static gint64 step(EBookClientCursor *cursor, EBookCursorStepFlags flags, EBookCursorOrigin origin, gint count) {
    GSList *contacts = NULL;
    GError *error = NULL;
    gint64 start = now();
    if (e_book_client_cursor_step_sync(cursor, flags, origin, count, &contacts, NULL, &error) < 0) fail("cursor", error);
    gint64 time = now() - start;
    if ((flags & E_BOOK_CURSOR_STEP_FETCH) != 0 && g_slist_length(contacts) != (guint)count) fail("page", NULL);
    g_slist_free_full(contacts, g_object_unref);
    return time;
}

/// Creating the cursor and moving it to the page are not measured.
GArray *fetch_pages(Book *book, guint count) {
    const EContactField fields[] = {E_CONTACT_FAMILY_NAME, E_CONTACT_GIVEN_NAME};
    const EBookCursorSortType order[] = {E_BOOK_CURSOR_SORT_ASCENDING, E_BOOK_CURSOR_SORT_ASCENDING};
    EBookClientCursor *cursor = NULL;
    GError *error = NULL;
    if (!e_book_client_get_cursor_sync(book->client, NULL, fields, order, 2, &cursor, NULL, &error)) {
        fail("make a cursor", error);
    }
    GArray *times = new_times();
    guint places = MAX(1, book->people->len - pageSize);
    for (gint64 begin = now(); goes_on(times, count, begin);) {
        gint place = (gint)((guint64)book->next++ * 7919 % places);
        if (place > 0) step(cursor, E_BOOK_CURSOR_STEP_MOVE, E_BOOK_CURSOR_ORIGIN_BEGIN, place);
        EBookCursorOrigin origin = place > 0 ? E_BOOK_CURSOR_ORIGIN_CURRENT : E_BOOK_CURSOR_ORIGIN_BEGIN;
        gint64 time = step(cursor, E_BOOK_CURSOR_STEP_MOVE | E_BOOK_CURSOR_STEP_FETCH, origin, (gint)pageSize);
        g_array_append_val(times, time);
    }
    g_object_unref(cursor);
    return times;
}

GArray *fetch_all(Book *book, guint count) {
    GArray *times = new_times();
    for (gint64 begin = now(); goes_on(times, count, begin);) {
        gint64 time = query(book, everyContact, book->people->len);
        g_array_append_val(times, time);
    }
    return times;
}

GArray *storm(Book *book, guint milliseconds, guint seed) {
    book->next = seed * 1009;
    for (guint round = 0; round < 20; round++) fetch(book, book_next(book)->uid);
    // All clients begin together. This client prints a line when it is ready, and the benchmark sends a line
    // when all clients are ready.
    const gint64 ready = 0;
    say(&ready, 1);
    char line[16];
    if (fgets(line, sizeof line, stdin) == NULL) fail("storm", NULL);
    gint64 count = 0;
    gint64 start = now();
    gint64 end = start + (gint64)milliseconds * 1000000;
    while (now() < end) {
        fetch(book, book_next(book)->uid);
        count++;
    }
    gint64 time = now() - start;
    GArray *numbers = new_times();
    g_array_append_val(numbers, count);
    g_array_append_val(numbers, time);
    return numbers;
}
