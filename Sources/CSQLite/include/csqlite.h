#ifndef CSQLITE_H
#define CSQLITE_H

// What Swift cannot say: sqlite3_config(3) takes its arguments as printf does, and a file of SQLite's begins as another does.

/// Lets SQLite keep no account of the memory it takes: the account is one lock for all its connections, taken at every
/// allocation. Before the first use of SQLite in a process; answers SQLite's code, which changes nothing where it is not 0.
int csqlite_without_memory_account(void);

/// Keeps pages of books that SQLite holds apart from everything else in memory, so that they go back to the kernel when it
/// lets them go. Before the first use of SQLite in a process; answers SQLite's code, which changes nothing where it is not 0.
int csqlite_keep_pages_apart(void);

/// The name of a file system for SQLite: its own for Unix, where what is written to a write-ahead log is gathered until
/// it is synced or read. For connections alone that sync each commit (`PRAGMA synchronous = FULL`).
#define CSQLITE_GATHERING "unix-gathering"

/// Has connections find it by its name. To be called once in a process, before any is opened by it; answers SQLite's code.
int csqlite_register_gathering(void);

struct sqlite3;

/// Wakes the disk for a commit that comes in a moment, where it had nothing to do since the last one; waits for nothing. Within
/// a transaction that has the write lock and has written nothing, and for connections of the gathering file system: of others
/// it does nothing.
void csqlite_stir_log(struct sqlite3 *connection);

/// Where in the log the connection has written last, in bytes; -1 for connections of another file system.
long long csqlite_log_end(struct sqlite3 *connection);

#endif
