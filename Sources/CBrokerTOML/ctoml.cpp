#include "ctoml.h"

// An error is a value: nothing is thrown through Swift's frames.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <cstdio>
#include <string_view>

struct ctoml_document {
    toml::table root;
};

// A node of ours is one of toml++: Swift sees only its address.
static const toml::node *node_of(const ctoml_node *node) { return reinterpret_cast<const toml::node *>(node); }

static const ctoml_node *ours(const toml::node *node) { return reinterpret_cast<const ctoml_node *>(node); }

ctoml_document *ctoml_parse(const char *text, size_t size, uint32_t *line, char *reason, size_t capacity) {
    toml::parse_result result = toml::parse(std::string_view{text, size});
    if (result) {
        return new ctoml_document{std::move(result).table()};
    }
    const toml::parse_error &error = result.error();
    *line = error.source().begin.line;
    const std::string_view description = error.description();
    std::snprintf(reason, capacity, "%.*s", static_cast<int>(description.size()), description.data());
    return nullptr;
}

void ctoml_free(ctoml_document *document) { delete document; }

const ctoml_node *ctoml_root(const ctoml_document *document) { return ours(&document->root); }

enum ctoml_kind ctoml_kind(const ctoml_node *node) {
    switch (node_of(node)->type()) {
    case toml::node_type::table:
        return CTOML_TABLE;
    case toml::node_type::array:
        return CTOML_ARRAY;
    case toml::node_type::string:
        return CTOML_STRING;
    case toml::node_type::integer:
        return CTOML_INTEGER;
    case toml::node_type::boolean:
        return CTOML_BOOLEAN;
    default:
        return CTOML_OTHER;
    }
}

size_t ctoml_count(const ctoml_node *node) {
    if (const toml::table *table = node_of(node)->as_table()) {
        return table->size();
    }
    const toml::array *array = node_of(node)->as_array();
    return array ? array->size() : 0;
}

const ctoml_node *ctoml_element(const ctoml_node *node, size_t index) {
    const toml::array *array = node_of(node)->as_array();
    return array ? ours(array->get(index)) : nullptr;
}

const ctoml_node *ctoml_member(const ctoml_node *node, const char *key, size_t size) {
    const toml::table *table = node_of(node)->as_table();
    return table ? ours(table->get(std::string_view{key, size})) : nullptr;
}

void ctoml_keys(const ctoml_node *node, void (*body)(void *, const char *, size_t), void *context) {
    const toml::table *table = node_of(node)->as_table();
    if (!table) {
        return;
    }
    for (const auto &member : *table) {
        const std::string_view key = member.first.str();
        body(context, key.data(), key.size());
    }
}

int64_t ctoml_integer(const ctoml_node *node) {
    const toml::value<int64_t> *value = node_of(node)->as_integer();
    return value ? value->get() : 0;
}

bool ctoml_boolean(const ctoml_node *node) {
    const toml::value<bool> *value = node_of(node)->as_boolean();
    return value && value->get();
}

const char *ctoml_string(const ctoml_node *node, size_t *size) {
    const toml::value<std::string> *value = node_of(node)->as_string();
    *size = value ? value->get().size() : 0;
    return value ? value->get().data() : nullptr;
}
