#define _GNU_SOURCE
#include "fakepolkit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

struct fakepolkit {
    enum fakepolkit_habit habit;
    sd_bus *bus;
    pthread_t thread;
    int stop;
    pthread_mutex_t lock;
    pthread_cond_t happened;
    bool was_asked, was_left;
    unsigned other_calls;
    struct fakepolkit_question question;
    // The last caller's name on the bus.
    char asker[64];
};

static void copy(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from); }

static int read_question(sd_bus_message *call, struct fakepolkit_question *question) {
    const char *text = NULL, *name = NULL, *type = NULL;
    int result = sd_bus_message_enter_container(call, 'r', "sa{sv}");
    if (result >= 0) result = sd_bus_message_read(call, "s", &text);
    if (result >= 0) copy(question->kind, sizeof question->kind, text);
    if (result >= 0) result = sd_bus_message_enter_container(call, 'a', "{sv}");
    while (result >= 0 && (result = sd_bus_message_enter_container(call, 'e', "sv")) > 0) {
        result = sd_bus_message_read(call, "s", &name);
        if (result >= 0) result = sd_bus_message_peek_type(call, NULL, &type);
        if (result >= 0) result = sd_bus_message_enter_container(call, 'v', type);
        if (result < 0) return result;
        if (!strcmp(name, "pid") && !strcmp(type, "u"))
            result = sd_bus_message_read(call, "u", &question->pid);
        else if (!strcmp(name, "start-time") && !strcmp(type, "t"))
            result = sd_bus_message_read(call, "t", &question->start_time);
        else if (!strcmp(name, "uid") && !strcmp(type, "i"))
            result = sd_bus_message_read(call, "i", &question->uid);
        else
            return -EBADMSG;
        if (result >= 0) result = sd_bus_message_exit_container(call);
        if (result >= 0) result = sd_bus_message_exit_container(call);
    }
    if (result >= 0) result = sd_bus_message_exit_container(call);
    if (result >= 0) result = sd_bus_message_exit_container(call);
    if (result >= 0) result = sd_bus_message_read(call, "s", &text);
    if (result >= 0) copy(question->action, sizeof question->action, text);
    if (result >= 0) result = sd_bus_message_enter_container(call, 'a', "{ss}");
    const char *value = NULL;
    while (result >= 0 && (result = sd_bus_message_read(call, "{ss}", &name, &value)) > 0)
        if (!strcmp(name, "app")) copy(question->app, sizeof question->app, value);
    if (result >= 0) result = sd_bus_message_exit_container(call);
    if (result >= 0) result = sd_bus_message_read(call, "us", &question->flags, &text);
    if (result >= 0) copy(question->cancellation, sizeof question->cancellation, text);
    return result;
}

static int reply(struct fakepolkit *fake, sd_bus_message *call) {
    switch (fake->habit) {
    case FAKEPOLKIT_YES: return sd_bus_reply_method_return(call, "(bba{ss})", 1, 0, 1, "polkit.retains", "1");
    case FAKEPOLKIT_NO: return sd_bus_reply_method_return(call, "(bba{ss})", 0, 0, 0);
    case FAKEPOLKIT_CHALLENGE: return sd_bus_reply_method_return(call, "(bba{ss})", 0, 1, 0);
    case FAKEPOLKIT_BOTH: return sd_bus_reply_method_return(call, "(bba{ss})", 1, 1, 0);
    case FAKEPOLKIT_SHORT: return sd_bus_reply_method_return(call, "(bb)", 1, 0);
    case FAKEPOLKIT_LONG: return sd_bus_reply_method_return(call, "(bba{ss})s", 1, 0, 0, "more");
    case FAKEPOLKIT_FLAT: return sd_bus_reply_method_return(call, "bba{ss}", 1, 0, 0);
    case FAKEPOLKIT_WORD: return sd_bus_reply_method_return(call, "s", "yes");
    case FAKEPOLKIT_EMPTY: return sd_bus_reply_method_return(call, "");
    case FAKEPOLKIT_ERROR:
        return sd_bus_reply_method_errorf(call, "org.freedesktop.PolicyKit1.Error.Failed", "out of order");
    case FAKEPOLKIT_SILENT:
    case FAKEPOLKIT_HUNG: return 0;
    case FAKEPOLKIT_LEAVE: sd_bus_close(fake->bus); return 0;
    }
    return -EINVAL;
}

static int heard(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)error;
    struct fakepolkit *fake = data;
    if (sd_bus_message_is_method_call(call, NULL, "CheckAuthorization")) {
        struct fakepolkit_question question = {0};
        int result = read_question(call, &question);
        pthread_mutex_lock(&fake->lock);
        fake->was_asked = result >= 0;
        fake->question = question;
        copy(fake->asker, sizeof fake->asker, sd_bus_message_get_sender(call));
        pthread_cond_broadcast(&fake->happened);
        pthread_mutex_unlock(&fake->lock);
        result = reply(fake, call);
        return result < 0 ? result : 1;
    }
    const char *name = NULL, *before = NULL, *after = NULL;
    if (sd_bus_message_is_signal(call, "org.freedesktop.DBus", "NameOwnerChanged")
        && sd_bus_message_read(call, "sss", &name, &before, &after) >= 0) {
        pthread_mutex_lock(&fake->lock);
        if (!*after && !strcmp(name, fake->asker)) fake->was_left = true;
        pthread_cond_broadcast(&fake->happened);
        pthread_mutex_unlock(&fake->lock);
        return 0;
    }
    if (!sd_bus_message_is_method_call(call, NULL, NULL)) return 0;
    if (!sd_bus_message_is_method_call(call, "org.freedesktop.DBus.Properties", "Get")) {
        pthread_mutex_lock(&fake->lock);
        fake->other_calls++;
        pthread_mutex_unlock(&fake->lock);
    }
    // sd-bus replies that it does not know the method, which is a sign of life too.
    return fake->habit == FAKEPOLKIT_HUNG ? 1 : 0;
}

static void *live(void *data) {
    struct fakepolkit *fake = data;
    while (sd_bus_is_open(fake->bus) > 0) {
        int result = sd_bus_process(fake->bus, NULL);
        if (result < 0) break;
        if (result > 0) continue;
        struct pollfd ready[] = {
            {.fd = sd_bus_get_fd(fake->bus), .events = (short)sd_bus_get_events(fake->bus)},
            {.fd = fake->stop, .events = POLLIN},
        };
        if (poll(ready, 2, -1) < 0 || ready[1].revents) break;
    }
    sd_bus_close(fake->bus);
    return NULL;
}

struct fakepolkit *fakepolkit_start(const char *address, enum fakepolkit_habit habit) {
    struct fakepolkit *fake = calloc(1, sizeof *fake);
    if (!fake) return NULL;
    fake->habit = habit;
    fake->stop = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&fake->lock, NULL);
    pthread_cond_init(&fake->happened, NULL);
    int result = sd_bus_new(&fake->bus);
    if (result >= 0) result = sd_bus_set_address(fake->bus, address);
    if (result >= 0) result = sd_bus_set_bus_client(fake->bus, 1);
    if (result >= 0) result = sd_bus_start(fake->bus);
    if (result >= 0) result = sd_bus_add_filter(fake->bus, NULL, heard, fake);
    if (result >= 0) {
        const char *left = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'";
        result = sd_bus_add_match(fake->bus, NULL, left, NULL, NULL);
    }
    // The bus may not know yet that the previous owner of the name has gone.
    uint64_t flags = SD_BUS_NAME_REPLACE_EXISTING | SD_BUS_NAME_ALLOW_REPLACEMENT;
    if (result >= 0) result = sd_bus_request_name(fake->bus, "org.freedesktop.PolicyKit1", flags);
    if (result >= 0) result = -pthread_create(&fake->thread, NULL, live, fake);
    if (result >= 0) return fake;
    sd_bus_unref(fake->bus);
    close(fake->stop);
    free(fake);
    return NULL;
}

static bool wait_until(struct fakepolkit *fake, const bool *happened) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10;
    int result = 0;
    while (!*happened && result == 0) result = pthread_cond_timedwait(&fake->happened, &fake->lock, &end);
    return *happened;
}

bool fakepolkit_wait_asked(struct fakepolkit *fake, struct fakepolkit_question *question) {
    pthread_mutex_lock(&fake->lock);
    bool happened = wait_until(fake, &fake->was_asked);
    *question = fake->question;
    pthread_mutex_unlock(&fake->lock);
    return happened;
}

bool fakepolkit_wait_left(struct fakepolkit *fake) {
    pthread_mutex_lock(&fake->lock);
    bool happened = wait_until(fake, &fake->was_left);
    pthread_mutex_unlock(&fake->lock);
    return happened;
}

unsigned fakepolkit_other_calls(struct fakepolkit *fake) {
    pthread_mutex_lock(&fake->lock);
    unsigned calls = fake->other_calls;
    pthread_mutex_unlock(&fake->lock);
    return calls;
}

void fakepolkit_stop(struct fakepolkit *fake) {
    (void)eventfd_write(fake->stop, 1);
    pthread_join(fake->thread, NULL);
    sd_bus_unref(fake->bus);
    close(fake->stop);
    pthread_mutex_destroy(&fake->lock);
    pthread_cond_destroy(&fake->happened);
    free(fake);
}
