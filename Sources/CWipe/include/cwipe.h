#ifndef CWIPE_H
#define CWIPE_H

// Memory that is given back is wiped, whoever gives it back.
//
// The boxes of JunctionSecret wipe what we hold. Libraries hold copies, too: buffers that grow, a header made into a string, the
// text that a cipher opened. A program that links this space has a `free` and a `realloc` of its own, which the dynamic
// linker prefers for every library in the process: they fill a block with zeros before glibc has it back, so that no freed
// memory holds a token. The blocks themselves come from glibc, and go back to it.

#endif
