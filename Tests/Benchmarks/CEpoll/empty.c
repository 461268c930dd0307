/* A C target needs a source file. */
#include "CEpoll.h"
