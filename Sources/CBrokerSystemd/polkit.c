#define _GNU_SOURCE
#include "cpolkit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <time.h>

static const char destination[] = "org.freedesktop.PolicyKit1";
static const char path[] = "/org/freedesktop/PolicyKit1/Authority";
static const char interface[] = "org.freedesktop.PolicyKit1.Authority";

// One of the CheckAuthorizationFlags in polkit's reference manual.
static const uint32_t allow_user_interaction = 1;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

// The state of the request: whether it has an answer, the answer, and the reason for a failure.
struct waiting {
    bool is_over;
    enum cpolkit_answer answer;
    char *problem;
    size_t problem_size;
};

static void fail(struct waiting *waiting, const char *what, const char *why) {
    waiting->is_over = true;
    waiting->answer = CPOLKIT_FAILED;
    snprintf(waiting->problem, waiting->problem_size, "%s: %s", what, why ? why : "no reason given");
}

static void fail_errno(struct waiting *waiting, const char *what, int error) {
    char text[128];
    fail(waiting, what, strerror_r(-error, text, sizeof text));
}

static void read_answer(struct waiting *waiting, sd_bus_message *reply) {
    // Only this exact signature is accepted: additional content could change the meaning of the reply.
    int is_authorized = 0, is_challenge = 0;
    if (!sd_bus_message_has_signature(reply, "(bba{ss})"))
        return fail(waiting, "polkit's reply has an unexpected signature", sd_bus_message_get_signature(reply, 1));
    int result = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
    if (result >= 0) result = sd_bus_message_read(reply, "bb", &is_authorized, &is_challenge);
    if (result >= 0) result = sd_bus_message_skip(reply, "a{ss}");
    if (result >= 0) result = sd_bus_message_exit_container(reply);
    if (result < 0) return fail_errno(waiting, "polkit's reply cannot be read", result);
    waiting->is_over = true;
    // polkit never sets both.
    if (is_authorized && !is_challenge)
        waiting->answer = CPOLKIT_GRANTED;
    else if (!is_authorized && is_challenge)
        waiting->answer = CPOLKIT_CHALLENGE;
    else
        waiting->answer = CPOLKIT_REFUSED;
}

static int answered(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    struct waiting *waiting = data;
    if (waiting->is_over) return 0;
    const sd_bus_error *failure = sd_bus_message_get_error(reply);
    if (!failure) {
        read_answer(waiting, reply);
    } else if (
        sd_bus_error_has_name(failure, SD_BUS_ERROR_SERVICE_UNKNOWN)
        || sd_bus_error_has_name(failure, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
        // No program owns the name on the bus, and none can be started for it. Any other failure may be
        // temporary.
        waiting->is_over = true;
        waiting->answer = CPOLKIT_ABSENT;
    } else {
        fail(waiting, failure->name, failure->message);
    }
    return 0;
}

static int make_call(sd_bus *bus, const struct cpolkit_question *question, sd_bus_message **message) {
    int result = sd_bus_message_new_method_call(bus, message, destination, path, interface, "CheckAuthorization");
    // Passes the uid. Without it, polkit looks up the process's user itself, and by then the process may run
    // as a different user.
    if (result >= 0) {
        result = sd_bus_message_append(
            *message, "(sa{sv})s", "unix-process", 3, "pid", "u", question->pid, "start-time", "t", question->start_time, "uid",
            "i", (int32_t)question->uid, question->action);
    }
    if (result >= 0) {
        result = sd_bus_message_open_container(*message, 'a', "{ss}");
        if (result >= 0 && question->app) result = sd_bus_message_append(*message, "{ss}", "app", question->app);
        if (result >= 0 && question->access) result = sd_bus_message_append(*message, "{ss}", "access", question->access);
        if (result >= 0) result = sd_bus_message_close_container(*message);
    }
    // There is no cancellation_id, because CancelCheckAuthorization is never called. In polkitd (at least
    // 122) GLib can deadlock if this call arrives while the person's agent answers or exits: the cancelling
    // thread waits for a connection that the thread reading the agent's answer has locked, and the reading
    // thread waits for the cancellation. Closing the connection cancels its requests too, without this risk.
    if (result >= 0)
        result = sd_bus_message_append(*message, "us", question->may_interact ? allow_user_interaction : 0, "");
    return result;
}

// The state of the liveness checks. A check is a call that polkit can answer without asking a person.
struct pulse {
    // The time at which the last check was sent, and whether its reply is outstanding.
    uint64_t time;
    bool is_awaited;
};

static int felt(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)reply;
    (void)error;
    // Any reply, even an error, shows that polkit is alive.
    ((struct pulse *)data)->is_awaited = false;
    return 0;
}

static int feel(sd_bus *bus, struct pulse *pulse) {
    pulse->time = now();
    pulse->is_awaited = true;
    sd_bus_message *message = NULL;
    int result = sd_bus_message_new_method_call(
        bus, &message, destination, path, "org.freedesktop.DBus.Properties", "Get");
    if (result >= 0) result = sd_bus_message_append(message, "ss", interface, "BackendVersion");
    // The call has no timeout, because turn() checks the time.
    if (result >= 0) result = sd_bus_call_async(bus, NULL, message, felt, pulse, UINT64_MAX);
    sd_bus_message_unref(message);
    return result;
}

// Processes the bus until there is an answer. Returns 0, -ETIMEDOUT, -EHOSTDOWN if polkit does not respond,
// another -errno, or 1 if the request was cancelled.
static int turn(sd_bus *bus, struct waiting *waiting, uint64_t end, uint64_t patience, int cancel) {
    struct pulse pulse = {0};
    int result = feel(bus, &pulse);
    if (result < 0) return result;
    while (!waiting->is_over) {
        result = sd_bus_process(bus, NULL);
        if (result < 0) return result;
        if (result > 0) continue;
        uint64_t wake = 0;
        result = sd_bus_get_timeout(bus, &wake);
        if (result < 0) return result;
        uint64_t time = now();
        if (time >= end) return -ETIMEDOUT;
        uint64_t next = pulse.time + patience;
        if (time >= next) {
            if (pulse.is_awaited) return -EHOSTDOWN;
            result = feel(bus, &pulse);
            if (result < 0) return result;
            continue;
        }
        uint64_t until = wake < end ? wake : end;
        if (next < until) until = next;
        uint64_t left = until > time ? until - time : 0;
        struct timespec limit = {.tv_sec = (time_t)(left / 1000000), .tv_nsec = (long)(left % 1000000) * 1000};
        int descriptor = sd_bus_get_fd(bus), events = sd_bus_get_events(bus);
        if (descriptor < 0) return descriptor;
        if (events < 0) return events;
        struct pollfd ready[] = {
            {.fd = descriptor, .events = (short)events},
            {.fd = cancel, .events = POLLIN},
        };
        if (ppoll(ready, 2, &limit, NULL) < 0 && errno != EINTR) return -errno;
        if (ready[1].revents) return 1;
    }
    return 0;
}

enum cpolkit_answer cpolkit_ask(
    const char *address, const struct cpolkit_question *question, int cancel, char *problem, size_t problem_size) {
    struct waiting waiting = {.problem = problem, .problem_size = problem_size};
    if (problem_size > 0) problem[0] = 0;
    // polkit's uid is signed. For a negative uid, polkit would look up the user itself.
    if (question->uid > INT32_MAX) {
        fail(&waiting, "polkit cannot be asked", "the user ID is too large");
        return waiting.answer;
    }
    uint64_t end = now() + question->timeout;
    sd_bus *bus = NULL;
    sd_bus_message *message = NULL;
    sd_bus_slot *slot = NULL;

    int result = sd_bus_new(&bus);
    if (result >= 0) result = sd_bus_set_address(bus, address);
    if (result >= 0) result = sd_bus_set_bus_client(bus, 1);
    if (result >= 0) {
        result = sd_bus_start(bus);
        // If the socket does not exist, this machine has no bus. If no program listens on the socket, the
        // request fails.
        if (result == -ENOENT) {
            waiting.is_over = true;
            waiting.answer = CPOLKIT_ABSENT;
        }
    }
    if (result >= 0) result = make_call(bus, question, &message);
    if (result >= 0) result = sd_bus_call_async(bus, &slot, message, answered, &waiting, question->timeout);
    if (result >= 0) {
        result = turn(bus, &waiting, end, question->patience, cancel);
        if (result == 1 && !waiting.is_over) waiting.answer = CPOLKIT_CANCELLED;
        if (result == -EHOSTDOWN && !waiting.is_over) {
            waiting.is_over = true;
            waiting.answer = CPOLKIT_HUNG;
        }
    }
    if (result < 0 && !waiting.is_over) fail_errno(&waiting, "polkit cannot be asked", result);

    sd_bus_slot_unref(slot);
    sd_bus_message_unref(message);
    // Closes without waiting. The bus then notifies polkit, which stops asking for a password. A call that
    // was not sent yet is dropped. shutdown comes first, because a child that another thread has just forked
    // keeps the connection open until it executes its program. Until then, a password could still be accepted
    // for a cancelled request.
    int descriptor = bus ? sd_bus_get_fd(bus) : -1;
    if (descriptor >= 0) shutdown(descriptor, SHUT_RDWR);
    sd_bus_close(bus);
    sd_bus_unref(bus);
    return waiting.answer;
}
