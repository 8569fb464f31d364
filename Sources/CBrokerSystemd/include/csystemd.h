#ifndef CONTACTBROKER_CSYSTEMD_H
#define CONTACTBROKER_CSYSTEMD_H

/* Functions that systemd offers to a service: sd_journal_sendv(3), sd_notify(3), sd_watchdog_enabled(3). */

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#endif
