#ifndef CCURL_H
#define CCURL_H

// Typed wrappers for libcurl's functions with variable arguments, which Swift cannot call. The OpenSSL part is what
// libcurl has no option for: one certificate store that all connections share.

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

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

/// Sets the callbacks: for each line of the answer's head, for each part of its body, for the next part of the
/// request's body, and for the moment just before the request is sent.
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

/// Limits how many unsent bytes the kernel buffers. Otherwise the kernel takes megabytes at once, and on a slow line
/// the transfer makes no visible progress until they are sent.
static inline void ccurl_set_pace(CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, ccurl_hold_little);
}

static inline int ccurl_add_authorities(X509_STORE *store, const void *pem, int count) {
    BIO *text = BIO_new_mem_buf(pem, count);
    STACK_OF(X509_INFO) *found = text == NULL ? NULL : PEM_X509_INFO_read_bio(text, NULL, NULL, NULL);
    int added = 0;
    for (int index = 0; index < sk_X509_INFO_num(found); index++) {
        X509 *certificate = sk_X509_INFO_value(found, index)->x509;
        if (certificate != NULL && X509_STORE_add_cert(store, certificate) == 1) added++;
    }
    sk_X509_INFO_pop_free(found, X509_INFO_free);
    BIO_free(text);
    return added;
}

/// Makes a certificate store from a file, from a folder and from a PEM text. Each of them may be missing. OpenSSL looks
/// up a certificate in the folder by the hash of its name when it needs it. Returns NULL if the file or the text has no
/// readable certificate.
static inline void *ccurl_make_authorities(const char *file, const char *folder, const void *pem, int count) {
    X509_STORE *store = X509_STORE_new();
    int is_read = store != NULL;
    if (is_read && (file != NULL || folder != NULL)) is_read = X509_STORE_load_locations(store, file, folder) == 1;
    if (is_read && count > 0) is_read = ccurl_add_authorities(store, pem, count) > 0;
    // As in libcurl: a trusted certificate need not be a root.
    if (is_read) is_read = X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN) == 1;
    ERR_clear_error();
    if (is_read) return store;
    X509_STORE_free(store);
    return NULL;
}

static inline void ccurl_free_authorities(void *store) { X509_STORE_free(store); }

static inline CURLcode ccurl_trust(CURL *easy, void *context, void *store) {
    (void)easy;
    if (store == NULL) return CURLE_SSL_CACERT_BADFILE;
    SSL_CTX_set1_cert_store(context, store);
    return CURLE_OK;
}

/// Makes every TLS connection of the handle trust only this store, also a connection to a proxy. With NULL every TLS
/// connection fails.
///
/// The store must outlive every connection attempt of the handle.
static inline void ccurl_set_authorities(CURL *easy, void *store) {
    // Otherwise libcurl caches the first store that it sees and uses it instead of the next one.
    curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
    curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, ccurl_trust);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, store);
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

/// Returns the next transfer that has ended, and its outcome; NULL if there is none.
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
