#ifndef CWIPE_H
#define CWIPE_H

// Wipes all memory that the process frees.
//
// JunctionSecret wipes the secrets that our code holds. Libraries hold copies, too: buffers that grow, a header that
// became a string, the plain text of a cipher. A program that links this library has its own `free` and `realloc`,
// which the dynamic linker prefers for every library in the process. They overwrite a block with zeros before glibc
// gets it back, so that no freed memory holds a token. The blocks themselves still come from glibc.

#endif
