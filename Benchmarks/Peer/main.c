#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Carries out one task per line of standard input, and prints numbers. `App` of contactbroker-bench has the same tasks.

gint64 now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (gint64)time.tv_sec * 1000000000 + time.tv_nsec;
}

void say(const gint64 *numbers, guint count) {
    for (guint place = 0; place < count; place++) printf("%s%" G_GINT64_FORMAT, place > 0 ? " " : "", numbers[place]);
    printf("\n");
    fflush(stdout);
}

void fail(const char *task, GError *error) {
    printf("evolution-data-server: %s: %s\n", task, error != NULL ? error->message : "unexpected result");
    fflush(stdout);
    exit(1);
}

static void say_number(gint64 number) { say(&number, 1); }

static void say_all(GArray *numbers) {
    say((const gint64 *)(void *)numbers->data, numbers->len);
    g_array_unref(numbers);
}

/// Measures how long a new process takes to get its first contact.
static gint64 first_contact(Book *book, const char *uid) {
    gint64 start = now();
    book_open(book, FALSE);
    EContact *contact = NULL;
    GError *error = NULL;
    if (!e_book_client_get_contact_sync(book->client, uid, &contact, NULL, &error)) fail("fetch", error);
    g_object_unref(contact);
    return now() - start;
}

typedef GArray *(*Task)(Book *, guint);

static const struct {
    const char *word;
    Task task;
} tasks[] = {
    {"fetch", fetch_contacts}, {"search", fetch_by_name}, {"phone", fetch_by_phone},
    {"email", fetch_by_email}, {"page", fetch_pages},     {"list", fetch_all},
    {"change", change_contacts}, {"change-slowly", change_slowly}, {"watch", watch},
};

/// - Parameter text: the rest of the line after the word, such as a number or a path.
static void answer(Book *book, const char *word, const char *text) {
    char *rest = NULL;
    guint number = (guint)strtoul(text, &rest, 10);
    for (guint place = 0; place < G_N_ELEMENTS(tasks); place++) {
        if (strcmp(word, tasks[place].word) == 0) return say_all(tasks[place].task(book, number));
    }
    if (strcmp(word, "ready") == 0) return say_number(0);
    if (strcmp(word, "version") == 0) {
        gint64 version[] = {eds_major_version, eds_minor_version, eds_micro_version};
        return say(version, G_N_ELEMENTS(version));
    }
    if (strcmp(word, "open") == 0) {
        book_open(book, strcmp(text, "direct") == 0);
        return say_number(0);
    }
    if (strcmp(word, "learn") == 0) return say_number(book_learn(book));
    if (strcmp(word, "import") == 0) return say_number(import_file(book, text));
    if (strcmp(word, "add") == 0) return say_all(add_file(book, text));
    if (strcmp(word, "first") == 0) return say_number(first_contact(book, text));
    if (strcmp(word, "storm") == 0) return say_all(storm(book, number, (guint)strtoul(rest, NULL, 10)));
    if (strcmp(word, "name") == 0) {
        printf("%s\n", book_next(book)->uid);
        fflush(stdout);
        return;
    }
    fail(word, NULL);
}

int main(void) {
    Book book = {0};
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        char **parts = g_strsplit(g_strchomp(line), " ", 2);
        if (parts[0] != NULL) answer(&book, parts[0], parts[1] != NULL ? parts[1] : "");
        g_strfreev(parts);
    }
    return 0;
}
