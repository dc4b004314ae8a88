#ifndef CLINUX_H
#define CLINUX_H

// Functions of glibc and the kernel that Swift does not import. This header may include only <stdint.h> and <stddef.h>:
// with _GNU_SOURCE and the system headers, the module would define types that Swift's Glibc module defines differently.
//
// Unless its comment says otherwise, a function returns 0, or the errno as a positive number.

#include <stddef.h>
#include <stdint.h>

// --- The peer of a Unix socket ---

/// Reads the process, user and primary group of the peer at the time of connect(2) (SO_PEERCRED).
int clinux_peer_credentials(int socket, int32_t *process, uint32_t *user, uint32_t *group);

/// Reads the supplementary groups of the peer process (SO_PEERGROUPS).
/// `*count` is the capacity of `groups` on entry and the number of groups on return. Returns ERANGE when the capacity
/// is too small.
int clinux_peer_groups(int socket, uint32_t *groups, size_t *count);

/// Opens the process that connected (SO_PEERPIDFD), even if another process has its number by now. Returns a
/// close-on-exec descriptor, or a negative errno: ENOPROTOOPT before Linux 6.5, ESRCH or EINVAL when the process has
/// ended.
int clinux_peer_process(int socket);

/// Opens the process that has this number now. Returns a close-on-exec descriptor, or a negative errno.
int clinux_open_process(int32_t process);

/// Returns 1 if an open process has ended or cannot be polled, else 0. Its parent need not have waited for it.
int clinux_process_has_ended(int process);

/// Accepts a connection that is close-on-exec and non-blocking from the start. Returns it, or a negative errno.
int clinux_accept(int listener);

/// Returns the memory, overhead included, of sent data that the peer has not read (SIOCOUTQ). The number falls when the
/// peer has read a whole buffer. Returns a negative errno if the socket does not support this.
int clinux_unread_output(int socket);

/// Sends a datagram with a copy of a descriptor to the address of a Unix socket. Does not block.
int clinux_send_descriptor(int socket, const void *bytes, size_t count, const void *address, uint32_t address_length,
                           int descriptor);

// --- Clocks and the alarm ---

/// Returns the wall clock (CLOCK_REALTIME) in milliseconds since 1970.
int64_t clinux_wall_milliseconds(void);

/// Returns the milliseconds since boot on the clock that never steps and counts during suspend (CLOCK_BOOTTIME).
int64_t clinux_boot_milliseconds(void);

/// Makes an alarm on the wall clock: a blocking, close-on-exec timer descriptor. Returns it, or a negative errno.
int clinux_alarm_create(void);

/// Sets the alarm to a wall-clock time. An alarm for a time in the past goes off at once.
/// A step of the wall clock cancels a wait for the alarm, and so does a resume from suspend.
int clinux_alarm_set(int alarm, int64_t wall_milliseconds);

/// Leaves the alarm waiting only for a step of the wall clock.
int clinux_alarm_disarm(int alarm);

/// Blocks until the alarm goes off, and returns 0 then. Returns ECANCELED if the wall clock was set, also for a step
/// before the call; the alarm stays set. Retries after EINTR.
int clinux_alarm_wait(int alarm);

// --- The process and its memory ---

/// Forbids core dumps, debuggers of the same user and reads of /proc/self/mem (PR_SET_DUMPABLE 0, RLIMIT_CORE 0).
/// Call this after the last read of /proc/self: its files belong to root from then on.
int clinux_forbid_dumps(void);

/// Forbids the same for this program, and not for the programs that it starts (PR_SET_DUMPABLE 0).
int clinux_forbid_own_dumps(void);

/// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed, so that no socket or file gets its number.
/// Otherwise a message on standard error could go to that socket or file. Reading standard input and writing standard
/// output or standard error still fail there, as before.
int clinux_occupy_standard_descriptors(void);

/// Returns unused heap memory (malloc_trim) and the unused part of the calling thread's stack to the kernel. Returns 1 if
/// there was unused heap memory, else 0.
int clinux_return_memory(void);

/// Makes all threads allocate from one heap. For a process in which one thread does the work: heaps of the other
/// threads would occupy pages for a few bytes each. Call this before the second thread starts.
int clinux_keep_one_heap(void);

/// Fills `bytes` with random bytes from the kernel. Blocks at early boot until the kernel has enough entropy.
int clinux_random(void *bytes, size_t count);

/// Closes `first` and every higher descriptor.
void clinux_close_from(int first);

/// Starts a program without arguments. `input` is its standard input, /dev/null its standard output, and it inherits
/// standard error. It inherits no environment, no other descriptor, and no blocked or ignored signal. It gets a session
/// of its own, so signals of our terminal do not reach it. The caller must wait for the process.
///
/// The kernel kills the process when the thread that started it ends, even if the process is stopped
/// (PR_SET_PDEATHSIG).
int clinux_start_program(const char *path, int input, int32_t *process);

/// Kills a process, even if it is stopped. Returns ESRCH if it has ended; another process with the same number is not
/// affected.
///
/// - Parameter process: a descriptor of the process, from `clinux_open_process`.
int clinux_kill_process(int process);

// --- Files ---

/// Renames a file. Returns EEXIST if `to` exists, and EINVAL if the file system does not support this.
int clinux_rename_without_replacing(int from_directory, const char *from, int to_directory, const char *to);

/// Exchanges two names atomically. Returns EINVAL if the file system does not support this.
int clinux_rename_exchanging(int from_directory, const char *from, int to_directory, const char *to);

/// Reserves blocks for the first `size` bytes of a file, without glibc's slow emulation that writes zeros.
/// Returns EOPNOTSUPP if the file system does not support this.
int clinux_reserve_space(int file, int64_t size);

/// Removes the access control list of a file, so that only its mode gives access. Also returns 0 if it has none.
int clinux_remove_access_list(int file);

/// Creates an unnamed file in memory (memfd) that is close-on-exec and can be sealed. Returns its descriptor, or a
/// negative errno.
int clinux_memory_file(const char *label);

/// Seals a file in memory: its content, its size and its seals cannot change any more.
int clinux_seal_memory_file(int file);

/// Returns 1 if a file in memory is sealed against every change, else 0; a negative errno for any other file.
int clinux_memory_file_is_sealed(int file);

/// Returns 1 if a file or folder is on a file system in memory (tmpfs, ramfs), else 0. Also returns 0 if that cannot be
/// determined.
int clinux_is_volatile(const char *path);

// --- The command line ---

// Numbers of junctiond's options. They are above every letter, because getopt_long(3) reports an unknown letter in the
// same field.
#define CLINUX_OPTION_CONFIG 256
#define CLINUX_OPTION_SOCKET 257
#define CLINUX_OPTION_STATE_DIRECTORY 258
#define CLINUX_OPTION_CHECK_CONFIG 259
#define CLINUX_OPTION_VERSION 260
#define CLINUX_OPTION_HELP 261

struct clinux_option {
    /// The option's number. '?' for an option that does not exist or that got a value it does not take; ':' for an
    /// option whose value is missing; 0 at the end.
    int code;
    /// With '?' and ':', the number of the option that has the wrong or missing value; otherwise not a number of any
    /// option.
    int about;
    /// NULL for an option without a value.
    const char *value;
    /// The index of the word in `words`. At the end, the index of the first word that belongs to no option.
    int position;
};

/// Reads the next option of junctiond with getopt_long(3), which prints nothing here. `isFirst` starts from the first
/// word. Not thread-safe.
struct clinux_option clinux_next_option(int count, char *const words[], int isFirst);

#endif
