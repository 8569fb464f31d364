#include "CLinux.h"

const char *linux_name(void) { return "CLinux"; }
