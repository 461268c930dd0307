/* epoll(7), which the Glibc module does not have. */
#ifndef CEPOLL_H
#define CEPOLL_H

#include <sys/epoll.h>

#endif
