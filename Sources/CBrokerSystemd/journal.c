#define SD_JOURNAL_SUPPRESS_LOCATION
#include "csystemd.h"

#include <errno.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

/* More than any record of ours has. */
#define MOST_FIELDS 32

int csystemd_journal_send(const char *bytes, const size_t *lengths, size_t count) {
    struct iovec fields[MOST_FIELDS];
    if (count == 0 || count > MOST_FIELDS)
        return -EINVAL;
    for (size_t index = 0; index < count; index++) {
        /* sendmsg(2) does not write to what it is given. */
        fields[index].iov_base = (char *)bytes;
        fields[index].iov_len = lengths[index];
        bytes += lengths[index];
    }
    return sd_journal_sendv(fields, (int)count);
}
