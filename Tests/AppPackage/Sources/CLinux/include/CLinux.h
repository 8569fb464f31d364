#pragma once

/// The name that this module adds to the app's output.
const char *linux_name(void);
