#include "CAllocations.h"
#include <errno.h>
#include <stddef.h>

static unsigned long count;

unsigned long waymark_allocation_count(void) { return count; }

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

/* The C library's own allocation functions, under their internal names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t items, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size)
{
    count++;
    return __libc_calloc(items, size);
}

void *realloc(void *memory, size_t size)
{
    count++;
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = aligned_alloc(alignment, size);
    return *memory ? 0 : ENOMEM;
}

#endif
