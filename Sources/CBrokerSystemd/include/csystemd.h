#ifndef CONTACTBROKER_CSYSTEMD_H
#define CONTACTBROKER_CSYSTEMD_H

#include <stddef.h>
#include <stdint.h>

/* What systemd offers a service: sd_journal_send(3), sd_notify(3), sd_watchdog_enabled(3).
   Every function answers -errno where it fails. */

/* Gives the journal one record of `count` fields. The fields, each NAME=value, stand one after the other in `bytes`, each as
   long as `lengths` says; a value may be any bytes. Waits for the journal if it must. */
int csystemd_journal_send(const char *bytes, const size_t *lengths, size_t count);

/* Tells the service manager of a state. 1 where it was told, 0 where there is none to tell. */
int csystemd_notify(const char *state);

/* 1 where the service manager wants a sign of life within `microseconds`, 0 where it wants none. */
int csystemd_watchdog(uint64_t *microseconds);

#endif
