#include "peer.h"

#include <string.h>

const char *const everyContact = "(contains \"x-evolution-any-field\" \"\")";

void book_open(Book *book, gboolean isDirect) {
    GError *error = NULL;
    ESourceRegistry *registry = e_source_registry_new_sync(NULL, &error);
    if (registry == NULL) fail("source registry", error);
    ESource *source = e_source_registry_ref_builtin_address_book(registry);
    // The client must not wait until the book is online, because a local book never reports that it is.
    const guint32 notAtAll = (guint32)-1;
    EClient *client = isDirect ? e_book_client_connect_direct_sync(registry, source, notAtAll, NULL, &error)
                               : e_book_client_connect_sync(source, notAtAll, NULL, &error);
    if (client == NULL) fail("connect", error);
    g_object_unref(source);
    // The client needs the registry until this process ends, so the registry is not released.
    book->client = E_BOOK_CLIENT(client);
}

static void learn_letters(Book *book, GHashTable *known, EContact *contact) {
    const char *name = e_contact_get_const(contact, E_CONTACT_GIVEN_NAME);
    if (name == NULL || g_utf8_strlen(name, -1) < 3) return;
    char *letters = g_utf8_substring(name, 0, 3);
    if (g_hash_table_add(known, letters)) g_ptr_array_add(book->letters, g_strdup(letters));
}

static void learn_person(Book *book, EContact *contact) {
    GList *phones = e_contact_get(contact, E_CONTACT_TEL);
    GList *emails = e_contact_get(contact, E_CONTACT_EMAIL);
    if (phones != NULL && emails != NULL) {
        Person person = {
            .uid = g_strdup(e_contact_get_const(contact, E_CONTACT_UID)),
            .phone = g_strdup(phones->data),
            .email = g_strdup(emails->data),
        };
        g_array_append_val(book->people, person);
    }
    g_list_free_full(phones, g_free);
    g_list_free_full(emails, g_free);
}

gint64 book_learn(Book *book) {
    GSList *contacts = NULL;
    GError *error = NULL;
    if (!e_book_client_get_contacts_sync(book->client, everyContact, &contacts, NULL, &error)) fail("list", error);
    book->people = g_array_new(FALSE, FALSE, sizeof(Person));
    book->letters = g_ptr_array_new();
    GHashTable *known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (GSList *each = contacts; each != NULL; each = each->next) {
        learn_person(book, each->data);
        learn_letters(book, known, each->data);
    }
    g_hash_table_unref(known);
    g_slist_free_full(contacts, g_object_unref);
    if (book->people->len == 0 || book->letters->len == 0) fail("learn", NULL);
    return book->people->len;
}

const Person *book_next(Book *book) {
    // The step is a prime number, because neighbours in the book would share its pages.
    guint64 place = (guint64)book->next++ * 7919 % book->people->len;
    return &g_array_index(book->people, Person, place);
}
