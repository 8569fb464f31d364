#ifndef CTOML_H
#define CTOML_H

// The parts of toml++ (libtomlplusplus-dev) that the broker's trusted files need, for Swift. These files need
// no inline tables, fractions, dates or times, so nothing here reads them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parsed text. It owns its nodes.
typedef struct ctoml_document ctoml_document;
/// A value, valid as long as its document.
typedef struct ctoml_node ctoml_node;

/// Parses a UTF-8 text. `ctoml_error` returns the syntax error, if there is one.
ctoml_document *ctoml_parse(const char *text, size_t size) __attribute__((returns_nonnull));
void ctoml_free(ctoml_document *document);
/// The syntax error and its line, from 1; NULL if there is none. The text is valid as long as the document.
const char *ctoml_error(const ctoml_document *document, uint32_t *line);

/// The table of the whole text.
const ctoml_node *ctoml_root(const ctoml_document *document) __attribute__((returns_nonnull));
/// The line of a value or of a table's header, from 1.
uint32_t ctoml_line(const ctoml_node *node);

/// Inline tables do not count.
bool ctoml_is_table(const ctoml_node *node);
bool ctoml_is_array(const ctoml_node *node);
/// The number of an array's elements or a table's members; 0 for anything else.
size_t ctoml_count(const ctoml_node *node);
/// NULL if `node` is not an array or has no such element.
const ctoml_node *ctoml_element(const ctoml_node *node, size_t index);
/// NULL if `node` is not a table or has no such key.
const ctoml_node *ctoml_member(const ctoml_node *node, const char *key, size_t size);
/// Returns the key at this index in a table, whose keys are sorted by bytes. The key has no NUL at the end.
/// Returns NULL if `node` is not a table or has fewer keys.
const char *ctoml_key(const ctoml_node *node, size_t index, size_t *size);

/// NULL for a value of a different type. The pointer is valid as long as the document.
const int64_t *ctoml_integer(const ctoml_node *node);
const bool *ctoml_boolean(const ctoml_node *node);
/// NULL for a value of a different type. The string has no NUL at the end.
const char *ctoml_string(const ctoml_node *node, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
