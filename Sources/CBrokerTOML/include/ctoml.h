#ifndef CTOML_H
#define CTOML_H

// toml++ (libtomlplusplus-dev) for Swift, as far as the files that say what the broker does need it. Inline tables, fractions, dates
// and times are of no use there, and nothing here reads them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parsed text, which owns its nodes.
typedef struct ctoml_document ctoml_document;
/// A value; good for as long as its document.
typedef struct ctoml_node ctoml_node;

/// Parses UTF-8.
ctoml_document *ctoml_parse(const char *text, size_t size) __attribute__((returns_nonnull));
void ctoml_free(ctoml_document *document);
/// Why it is no TOML, and on which line, from 1; NULL where it is. Good for as long as the document.
const char *ctoml_error(const ctoml_document *document, uint32_t *line);

/// The table of the whole text.
const ctoml_node *ctoml_root(const ctoml_document *document) __attribute__((returns_nonnull));
/// Where a value begins, or the header of a table, from 1.
uint32_t ctoml_line(const ctoml_node *node);

bool ctoml_is_table(const ctoml_node *node);
bool ctoml_is_array(const ctoml_node *node);
/// Elements of an array, members of a table; 0 for anything else.
size_t ctoml_count(const ctoml_node *node);
/// NULL where `node` is no array or too short.
const ctoml_node *ctoml_element(const ctoml_node *node, size_t index);
/// NULL where `node` is no table or has no such key.
const ctoml_node *ctoml_member(const ctoml_node *node, const char *key, size_t size);
/// A key of a table, in the order of their bytes; not ended by a NUL. NULL where `node` is no table or has fewer.
const char *ctoml_key(const ctoml_node *node, size_t index, size_t *size);

/// NULL for a value of another kind; good for as long as the document.
const int64_t *ctoml_integer(const ctoml_node *node);
const bool *ctoml_boolean(const ctoml_node *node);
/// Not ended by a NUL.
const char *ctoml_string(const ctoml_node *node, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
