#include "csystemd.h"

#include <systemd/sd-daemon.h>

int csystemd_notify(const char *state) {
    return sd_notify(0, state);
}

int csystemd_watchdog(uint64_t *microseconds) {
    return sd_watchdog_enabled(0, microseconds);
}
