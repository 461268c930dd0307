#pragma once
// Glibc leaves this header out of its module.
#include <malloc.h>
