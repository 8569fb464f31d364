#include "peer.h"

#include <string.h>

static const guint cardsPerCall = 500;
/// In microseconds: the same pause as in contactbroker-bench's app.
static const gulong pauseBetween = 75000;
/// The time in seconds after which a watcher gives up.
static const guint patience = 60;

/// Returns the cards of a file, as texts.
static GPtrArray *cards(const char *path) {
    char *text = NULL;
    GError *error = NULL;
    if (!g_file_get_contents(path, &text, NULL, &error)) fail("read cards", error);
    static const char ending[] = "END:VCARD\r\n";
    GPtrArray *cards = g_ptr_array_new_with_free_func(g_free);
    const char *start = text;
    for (const char *end; (end = strstr(start, ending)) != NULL; start = end + strlen(ending)) {
        g_ptr_array_add(cards, g_strndup(start, (gsize)(end - start) + strlen(ending)));
    }
    g_free(text);
    return cards;
}

static void add(Book *book, GPtrArray *texts, guint first, guint end) {
    GSList *contacts = NULL;
    for (guint place = end; place > first; place--) {
        contacts = g_slist_prepend(contacts, e_contact_new_from_vcard(g_ptr_array_index(texts, place - 1)));
    }
    GSList *uids = NULL;
    GError *error = NULL;
    if (!e_book_client_add_contacts_sync(book->client, contacts, E_BOOK_OPERATION_FLAG_NONE, &uids, NULL, &error)) {
        fail("add", error);
    }
    g_slist_free_full(uids, g_free);
    g_slist_free_full(contacts, g_object_unref);
}

gint64 import_file(Book *book, const char *path) {
    gint64 start = now();
    GPtrArray *texts = cards(path);
    for (guint first = 0; first < texts->len; first += cardsPerCall) {
        add(book, texts, first, MIN(texts->len, first + cardsPerCall));
    }
    gint64 time = now() - start;
    g_ptr_array_unref(texts);
    return time;
}

GArray *add_file(Book *book, const char *path) {
    GPtrArray *texts = cards(path);
    GArray *times = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint place = 0; place < texts->len; place++) {
        gint64 start = now();
        add(book, texts, place, place + 1);
        gint64 time = now() - start;
        g_array_append_val(times, time);
    }
    g_ptr_array_unref(texts);
    return times;
}

/// Reads the next contact, then changes its job title. Returns the nanoseconds of the change, and sets
/// `start` to the time at which it began.
static gint64 change(Book *book, gint64 *start) {
    EContact *contact = NULL;
    GError *error = NULL;
    if (!e_book_client_get_contact_sync(book->client, book_next(book)->uid, &contact, NULL, &error)) {
        fail("fetch", error);
    }
    char *title = g_strdup_printf("Coordinator %u", book->next);
    e_contact_set(contact, E_CONTACT_TITLE, title);
    *start = now();
    if (!e_book_client_modify_contact_sync(book->client, contact, E_BOOK_OPERATION_FLAG_NONE, NULL, &error)) {
        fail("change", error);
    }
    gint64 time = now() - *start;
    g_free(title);
    g_object_unref(contact);
    return time;
}

GArray *change_contacts(Book *book, guint count) {
    GArray *times = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint round = 0; round < count; round++) {
        gint64 start;
        gint64 time = change(book, &start);
        g_array_append_val(times, time);
    }
    return times;
}

GArray *change_slowly(Book *book, guint count) {
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint round = 0; round < count; round++) {
        g_usleep(pauseBetween);
        gint64 start;
        gint64 time = change(book, &start);
        g_array_append_val(numbers, start);
        g_array_append_val(numbers, time);
    }
    return numbers;
}

// MARK: Watching

typedef struct {
    GMainLoop *loop;
    GArray *times;
    guint count;
    gboolean isComplete;
} Watch;

static void on_change(EBookClientView *view, const GSList *contacts, gpointer data) {
    (void)view;
    gint64 time = now();
    Watch *watch = data;
    for (; contacts != NULL; contacts = contacts->next) g_array_append_val(watch->times, time);
    if (watch->times->len >= watch->count) g_main_loop_quit(watch->loop);
}

static void on_complete(EBookClientView *view, const GError *error, gpointer data) {
    (void)view;
    if (error != NULL) fail("watch", (GError *)error);
    Watch *watch = data;
    if (watch->isComplete) return;
    watch->isComplete = TRUE;
    const gint64 ready = 0;
    say(&ready, 1);
}

static gboolean give_up(gpointer data) {
    (void)data;
    fail("watch: the changes did not come", NULL);
}

GArray *watch(Book *book, guint count) {
    Watch watch = {
        .loop = g_main_loop_new(NULL, FALSE), .times = g_array_new(FALSE, FALSE, sizeof(gint64)), .count = count};
    EBookClientView *view = NULL;
    GError *error = NULL;
    if (!e_book_client_get_view_sync(book->client, everyContact, &view, NULL, &error)) fail("watch", error);
    g_signal_connect(view, "objects-modified", G_CALLBACK(on_change), &watch);
    g_signal_connect(view, "complete", G_CALLBACK(on_complete), &watch);
    // Without the flag "notify initial" the view reports only changes, not the whole book first.
    e_book_client_view_set_flags(view, E_BOOK_CLIENT_VIEW_FLAGS_NONE, &error);
    if (error == NULL) e_book_client_view_start(view, &error);
    if (error != NULL) fail("watch", error);
    g_timeout_add_seconds(patience, give_up, NULL);
    g_main_loop_run(watch.loop);
    return watch.times;
}
