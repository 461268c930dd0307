/* How often a program asks the heap for memory. */
#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

/* So often so far, by one thread. Linked in, it counts every malloc(3) and its like; a sanitizer's heap is not counted. */
unsigned long waymark_allocation_count(void);

#endif
