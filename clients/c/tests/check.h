/* What the tests are made of: a check that says where it failed. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

/* Runs a test, and says so. */
#define RUN(test) \
    do { \
        test(); \
        printf("ok %s\n", #test); \
        fflush(stdout); \
    } while (0)

#endif
