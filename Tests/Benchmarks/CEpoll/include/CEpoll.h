/* epoll(7), which is missing in the Glibc module. */
#ifndef CEPOLL_H
#define CEPOLL_H

#include <sys/epoll.h>

#endif
