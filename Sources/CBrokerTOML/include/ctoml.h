#ifndef CTOML_H
#define CTOML_H

// toml++ (libtomlplusplus-dev) for Swift, as far as the administrator's files need it.

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

enum ctoml_kind { CTOML_OTHER, CTOML_TABLE, CTOML_ARRAY, CTOML_STRING, CTOML_INTEGER, CTOML_BOOLEAN };

/// Parses UTF-8. NULL: it is no TOML; then `line` is set, from 1, and why, cut to `capacity` with its NUL.
ctoml_document *ctoml_parse(const char *text, size_t size, uint32_t *line, char *reason, size_t capacity);
void ctoml_free(ctoml_document *document);

/// The table of the whole text.
const ctoml_node *ctoml_root(const ctoml_document *document);
enum ctoml_kind ctoml_kind(const ctoml_node *node);

/// Elements of an array, members of a table; 0 for anything else.
size_t ctoml_count(const ctoml_node *node);
/// NULL where `node` is no array or too short.
const ctoml_node *ctoml_element(const ctoml_node *node, size_t index);
/// NULL where `node` is no table or has no such key.
const ctoml_node *ctoml_member(const ctoml_node *node, const char *key, size_t size);
/// Calls back with each key of a table, in the order of their bytes.
void ctoml_keys(const ctoml_node *node, void (*body)(void *context, const char *key, size_t size), void *context);

/// 0, false, and no text for a value of another kind.
int64_t ctoml_integer(const ctoml_node *node);
bool ctoml_boolean(const ctoml_node *node);
/// Not ended by a NUL.
const char *ctoml_string(const ctoml_node *node, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
