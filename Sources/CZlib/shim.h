#pragma once
// The library reads its input, and says so with this.
#define ZLIB_CONST
#include <zlib.h>
