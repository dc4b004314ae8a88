#ifndef CLINUX_H
#define CLINUX_H

// What glibc and the kernel offer and Swift cannot see. Only <stdint.h> and <stddef.h> may be included here: with
// _GNU_SOURCE and the system headers, this module would define types that Swift's own Glibc module defines otherwise.
//
// Unless a function says something else, it returns 0, or the errno of what failed as a positive number.

#include <stddef.h>
#include <stdint.h>

// --- Who is at the other end of a Unix socket ---

/// Reads the process, user and primary group that connected, as the kernel noted them (SO_PEERCRED).
int clinux_peer_credentials(int socket, int32_t *process, uint32_t *user, uint32_t *group);

/// Reads the supplementary groups of the process that connected (SO_PEERGROUPS).
/// `*count` is the space in `groups` on entry and the number of groups on return; ERANGE when the space is too small.
int clinux_peer_groups(int socket, uint32_t *groups, size_t *count);

/// Opens the very process that connected (SO_PEERPIDFD), whatever its number is used for by now. Returns a close-on-exec
/// descriptor, or a negative errno: ENOPROTOOPT before Linux 6.5, ESRCH or EINVAL when the process has gone.
int clinux_peer_process(int socket);

/// Opens the process that has this number now. Returns a close-on-exec descriptor, or a negative errno.
int clinux_open_process(int32_t process);

/// Whether an open process has ended, or cannot be asked: 1 or 0. It need not have been waited for by its parent.
int clinux_process_has_ended(int process);

/// Accepts a connection that is close-on-exec and non-blocking from the start. Returns it, or a negative errno.
int clinux_accept(int listener);

/// The memory in use for what was sent and the other end has not read, overhead included (SIOCOUTQ): it falls as whole
/// buffers are read. A negative errno when the socket cannot say.
int clinux_unread_output(int socket);

/// Sends a datagram that carries a descriptor to a Unix socket's address, without waiting: the receiver gets a copy.
int clinux_send_descriptor(int socket, const void *bytes, size_t count, const void *address, uint32_t address_length,
                           int descriptor);

// --- The clocks, and the one alarm ---

/// The wall clock (CLOCK_REALTIME) in milliseconds since 1970.
int64_t clinux_wall_milliseconds(void);

/// The clock that never steps and counts through suspend (CLOCK_BOOTTIME), in milliseconds since boot.
int64_t clinux_boot_milliseconds(void);

/// Makes an alarm on the wall clock: a blocking, close-on-exec timer descriptor. Returns it, or a negative errno.
int clinux_alarm_create(void);

/// Arms the alarm for a wall-clock time, which may have passed already: then it rings at once.
/// Setting the wall clock cancels a wait for it, and so does the resume from a suspend.
int clinux_alarm_set(int alarm, int64_t wall_milliseconds);

/// Leaves the alarm waiting for a change of the wall clock only.
int clinux_alarm_disarm(int alarm);

/// Blocks until the alarm rings: 0. ECANCELED: the wall clock was set (also reported for a change before the call);
/// the alarm stays armed. EINTR is retried.
int clinux_alarm_wait(int alarm);

// --- The process and its memory ---

/// Refuses core dumps, debuggers of the same user and reads of /proc/self/mem (PR_SET_DUMPABLE 0, RLIMIT_CORE 0).
/// Do this after reading /proc/self: its files belong to root from now on.
int clinux_forbid_dumps(void);

/// Occupies whichever of the descriptors 0, 1 and 2 the caller left closed, so that no socket or file gets its number:
/// what the program says on standard error would go there. Reading or writing fails there as it would have before.
int clinux_occupy_standard_descriptors(void);

/// Gives the memory of a finished burst back to the kernel (malloc_trim). Returns whether there was any: 1 or 0.
int clinux_return_memory(void);

/// All threads allocate from one heap, and not each from one of its own: for a process in which one thread does the work, and the
/// pages of the others would hold a few bytes each. Before there is a second thread.
int clinux_keep_one_heap(void);

/// Fills `bytes` with randomness from the kernel, which is waited for at early boot.
int clinux_random(void *bytes, size_t count);

/// Closes every descriptor from `first` on.
void clinux_close_from(int first);

/// Starts a program without arguments, with `input` as its standard input, nothing as its standard output, our standard
/// error, and nothing else of ours: no environment, no other descriptor, no blocked or ignored signal, and in a session of
/// its own, where our terminal's signals do not reach. Whoever starts it has to wait for its end.
///
/// It is killed when the thread that started it ends, however that happens, even if it is stopped (PR_SET_PDEATHSIG).
int clinux_start_program(const char *path, int input, int32_t *process);

/// Kills a process, even one that is stopped. ESRCH: it has ended already, and no other with its number is meant.
///
/// - Parameter process: a descriptor of it, of `clinux_open_process`.
int clinux_kill_process(int process);

// --- Files ---

/// Renames within directories and refuses with EEXIST when `to` exists. EINVAL: this file system cannot.
int clinux_rename_without_replacing(int from_directory, const char *from, int to_directory, const char *to);

/// Exchanges two names in one step. EINVAL: this file system cannot.
int clinux_rename_exchanging(int from_directory, const char *from, int to_directory, const char *to);

/// Reserves blocks for the first `size` bytes of a file, without the slow emulation that writes zeros.
/// EOPNOTSUPP: this file system cannot.
int clinux_reserve_space(int file, int64_t size);

/// Makes an unnamed file in memory that is close-on-exec and may be sealed. Returns it, or a negative errno.
int clinux_memory_file(const char *label);

/// Forbids any further change of a file in memory: content, size and this rule.
int clinux_seal_memory_file(int file);

/// Whether the content of a file in memory can no longer change: 1 or 0; a negative errno for any other file.
int clinux_memory_file_is_sealed(int file);

/// Whether a file or folder is on a file system that lives in memory (tmpfs, ramfs): 1 or 0, also where that cannot be told.
int clinux_is_volatile(const char *path);

// --- The command line ---

// The numbers of junctiond's options: above every letter, since getopt_long(3) reports an unknown letter in the same place.
#define CLINUX_OPTION_CONFIG 256
#define CLINUX_OPTION_SOCKET 257
#define CLINUX_OPTION_STATE_DIRECTORY 258
#define CLINUX_OPTION_CHECK_CONFIG 259
#define CLINUX_OPTION_VERSION 260
#define CLINUX_OPTION_HELP 261

struct clinux_option {
    /// The option's number; '?' for an option that does not exist, or that takes no value and was given
    /// one; ':' for one whose value is missing; 0 at the end.
    int code;
    /// With '?' and ':', the number of the option that got a value or lacks its value; otherwise no option's number.
    int about;
    /// NULL for an option without a value.
    const char *value;
    /// The index of the word in `words`. At the end: of the first word that belongs to no option.
    int position;
};

/// Reads the next option of junctiond by getopt_long(3), which prints nothing here. `isFirst` begins anew. Not thread-safe.
struct clinux_option clinux_next_option(int count, char *const words[], int isFirst);

#endif
