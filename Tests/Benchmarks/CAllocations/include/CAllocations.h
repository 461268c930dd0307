/* Counts heap allocations. */
#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

/* The number of allocations so far, for a program with one thread. Counts every call of malloc(3) and its relatives in a program that
   links this library; a sanitizer's heap is not counted. */
unsigned long waymark_allocation_count(void);

#endif
