#ifndef CSQLITE_H
#define CSQLITE_H

// What Swift cannot say: sqlite3_config(3) takes its arguments as printf does.

/// Lets SQLite keep no account of the memory it takes: the account is one lock for all its connections, taken at every
/// allocation. Before the first use of SQLite in a process; answers SQLite's code, which changes nothing where it is not 0.
int csqlite_without_memory_account(void);

#endif
