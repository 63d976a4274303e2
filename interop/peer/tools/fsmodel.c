// SPDX-License-Identifier: Apache-2.0
// Random operations on one file, compared with a model in memory: overwrites at random offsets, reads, truncations, fsync, reopening.
//
//   fsmodel buffered|direct FILE BYTES OPERATIONS SEED
//
// "buffered" drops the file's clean pages from time to time, so that reads come from the server. "direct" opens with O_DIRECT: every
// operation is a call of its own on the wire, with lengths and offsets that are not aligned. Ends with 0 and one line when all was as the
// model says, with 1 and the first difference else.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t state;
static const char *path;
static int flags, file = -1;
static unsigned char *model, *buffer;
static size_t size; // of the file, as the model has it
static long step;

static uint64_t next(void) // SplitMix64
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("fsmodel: step %ld: ", step);
    vprintf(format, list);
    printf("\n");
    exit(1);
}

static void reopen(int more)
{
    if (file >= 0 && close(file))
        fail("close: %s", strerror(errno));
    file = open(path, O_RDWR | flags | more, 0644);
    if (file < 0)
        fail("open %s: %s", path, strerror(errno));
}

// The buffer's address is odd in buffered mode and page aligned in direct mode; lengths are of any size.
static void compare(size_t offset, size_t length)
{
    size_t want = offset >= size ? 0 : size - offset < length ? size - offset : length, got = 0;
    while (got < want) {
        ssize_t n = pread(file, buffer + got, length - got, (off_t)(offset + got));
        if (n < 0)
            fail("read of %zu at %zu: %s", length, offset, strerror(errno));
        if (n == 0)
            fail("read of %zu at %zu ended after %zu of %zu bytes", length, offset, got, want);
        got += (size_t)n;
    }
    if (got > want)
        fail("read of %zu at %zu gave %zu bytes, the file has only %zu there", length, offset, got, want);
    for (size_t i = 0; i < want; i++)
        if (buffer[i] != model[offset + i])
            fail("byte %zu (read of %zu at %zu) is %02x, expected %02x", offset + i, length, offset, buffer[i], model[offset + i]);
}

static void overwrite(size_t offset, size_t length)
{
    uint64_t v = 0;
    for (size_t i = 0; i < length; i++) {
        v = i % 8 ? v >> 8 : next();
        buffer[i] = (unsigned char)v;
    }
    for (size_t done = 0; done < length;) {
        ssize_t n = pwrite(file, buffer + done, length - done, (off_t)(offset + done));
        if (n <= 0)
            fail("write of %zu at %zu: %s", length, offset, strerror(errno));
        done += (size_t)n;
    }
    memcpy(model + offset, buffer, length);
    if (offset + length > size)
        size = offset + length;
}

static void set_size(size_t to)
{
    if (ftruncate(file, (off_t)to))
        fail("truncate to %zu: %s", to, strerror(errno));
    // What was cut off is zero when the file grows again.
    if (to < size)
        memset(model + to, 0, size - to);
    size = to;
}

int main(int argc, char **argv)
{
    if (argc != 6 || (strcmp(argv[1], "buffered") && strcmp(argv[1], "direct"))) {
        fprintf(stderr, "usage: fsmodel buffered|direct FILE BYTES OPERATIONS SEED\n");
        return 2;
    }
    int direct = !strcmp(argv[1], "direct");
    size_t bytes = strtoull(argv[3], NULL, 10);
    long operations = atol(argv[4]), counts[5] = { 0 };
    path = argv[2];
    state = strtoull(argv[5], NULL, 10);
    flags = direct ? O_DIRECT : 0;
    model = calloc(1, bytes);
    if (!model || posix_memalign((void **)&buffer, 4096, bytes + 1))
        fail("no memory for %zu bytes", bytes);
    buffer += !direct;
    reopen(O_CREAT | O_TRUNC);
    for (step = 0; step < operations; step++) {
        // Mostly small pieces, now and then a large one; offsets anywhere.
        size_t length = 1 + next() % (next() % 8 ? 9000 : bytes / 8), offset = next() % (bytes - length);
        unsigned what = next() % 100;
        if (what < 45) {
            overwrite(offset, length);
            counts[0]++;
        } else if (what < 88) {
            compare(offset, length);
            counts[1]++;
        } else if (what < 91) {
            set_size(next() % bytes);
            counts[2]++;
        } else if (what < 95) {
            if (fsync(file))
                fail("fsync: %s", strerror(errno));
            posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
            counts[3]++;
        } else {
            reopen(0);
            counts[4]++;
        }
    }
    reopen(0);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    struct stat st;
    if (fstat(file, &st))
        fail("stat: %s", strerror(errno));
    if ((size_t)st.st_size != size)
        fail("the file has %lld bytes, expected %zu", (long long)st.st_size, size);
    compare(0, size);
    if (close(file))
        fail("close: %s", strerror(errno));
    printf("fsmodel: %s, seed %s: %ld writes, %ld reads, %ld truncations, %ld syncs, %ld reopenings; %zu bytes as the model says\n",
           argv[1], argv[5], counts[0], counts[1], counts[2], counts[3], counts[4], size);
    return 0;
}
