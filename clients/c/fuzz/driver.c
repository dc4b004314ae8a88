/* Runs a fuzz target without libFuzzer: first the corpus, then mutations of it until the time is over.
 *
 *     driver SECONDS FOLDER... */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

#define MOST_INPUTS 1024
#define LONGEST_INPUT 8192

static struct {
    uint8_t *data;
    size_t count;
} inputs[MOST_INPUTS];
static size_t input_count;

static void load(const char *folder) {
    DIR *open = opendir(folder);
    if (open == NULL) return;
    for (struct dirent *entry; (entry = readdir(open)) != NULL && input_count < MOST_INPUTS;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = *entry->d_name == '.' ? NULL : fopen(path, "r");
        if (file == NULL) continue;
        uint8_t *data = malloc(LONGEST_INPUT);
        inputs[input_count].count = fread(data, 1, LONGEST_INPUT, file);
        inputs[input_count++].data = data;
        fclose(file);
    }
    closedir(open);
}

static uint64_t state = 88172645463325252u;
static size_t chance(size_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state % below);
}

static size_t mutate(uint8_t *data, size_t count) {
    static const char *const words[] = {"\"", "{", "}", "[", "]", ":", ",", "\n", "\\u", "\\ud800", "null", "-", "e9", "\xf0\x9f", "\"id\":1",
                                        "\"error\":", "\"result\":", "\"method\":", "\"params\":", "\"snapshot\":", "1e999"};
    for (size_t times = 1 + chance(4); times > 0; times--) {
        size_t at = count == 0 ? 0 : chance(count);
        const char *word = words[chance(sizeof words / sizeof words[0])];
        size_t length = strlen(word), other = chance(input_count);
        switch (chance(6)) {
        case 0:
            if (count > 0) data[at] = (uint8_t)chance(256);
            break;
        case 1:
            if (count > 0) data[at] ^= (uint8_t)(1u << chance(8));
            break;
        case 2:
            if (count > 0) {
                size_t gone = 1 + chance(count - at < 16 ? count - at : 16);
                memmove(data + at, data + at + gone, count - at - gone);
                count -= gone;
            }
            break;
        case 3:
            if (count + length <= LONGEST_INPUT) {
                memmove(data + at + length, data + at, count - at);
                memcpy(data + at, word, length);
                count += length;
            }
            break;
        case 4:
            count = at;
            break;
        default: {
            size_t piece = inputs[other].count == 0 ? 0 : chance(inputs[other].count);
            if (count + piece <= LONGEST_INPUT) memcpy(data + count, inputs[other].data + (inputs[other].count - piece), piece), count += piece;
        }
        }
    }
    return count;
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    for (int i = 2; i < count; i++) load(arguments[i]);
    if (input_count == 0) return 66;
    for (size_t i = 0; i < input_count; i++) LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].count);
    time_t end = time(NULL) + atoi(arguments[1]);
    unsigned long runs = 0;
    for (; time(NULL) < end; runs++) {
        static uint8_t data[LONGEST_INPUT];
        size_t chosen = chance(input_count);
        memcpy(data, inputs[chosen].data, inputs[chosen].count);
        size_t length = mutate(data, inputs[chosen].count);
        /* A buffer of exactly this size, so that the sanitizer reports a read past its end. */
        uint8_t *copy = malloc(length == 0 ? 1 : length);
        memcpy(copy, data, length);
        LLVMFuzzerTestOneInput(copy, length);
        free(copy);
    }
    printf("Done %lu runs\n", runs);
    return 0;
}
