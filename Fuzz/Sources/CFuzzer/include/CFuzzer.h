#pragma once

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's loop, for programs that bring a `main` of their own.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*oneInput)(const uint8_t *bytes, size_t count));
