#ifndef CCURL_H
#define CCURL_H

// libcurl sets and asks everything by functions with variable arguments, which Swift cannot call: here they have types.

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

typedef size_t (*ccurl_part)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_ready)(void *context, char *theirs, char *ours, int their_port, int our_port);

static inline CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl copies the text.
static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl copies the bytes.
static inline CURLcode ccurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

/// Who hears of the parts of the answer's head and body, gives those of the request's body, and hears that the request is
/// about to leave.
static inline void ccurl_set_callbacks(CURL *easy, void *context, ccurl_part head, ccurl_part body, ccurl_part more,
                                       ccurl_ready leaving) {
    curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(easy, CURLOPT_READDATA, context);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, more);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, leaving);
}

static inline int ccurl_hold_little(void *context, curl_socket_t socket, curlsocktype purpose) {
    int most = 1 << 15;
    (void)context;
    (void)purpose;
    setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
    return CURL_SOCKOPT_OK;
}

/// The kernel holds little of a body that it cannot send yet: else it would swallow megabytes at once, and on a slow line
/// nothing would seem to move until they are through.
static inline void ccurl_set_pace(CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, ccurl_hold_little);
}

static inline curl_version_info_data *ccurl_version(void) { return curl_version_info(CURLVERSION_NOW); }

static inline long ccurl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

static inline curl_off_t ccurl_size(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

static inline void *ccurl_context(CURL *easy) {
    void *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}

/// The next transfer that is over, and what became of it; NULL: none.
static inline CURL *ccurl_next_done(CURLM *multi, CURLcode *outcome) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE) {
            *outcome = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

#endif
