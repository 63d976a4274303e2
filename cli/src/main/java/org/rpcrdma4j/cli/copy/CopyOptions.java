// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

/**
 * How to copy.
 *
 * @param recursive whether trees are copied; symbolic links then are copied as links, otherwise followed
 * @param preserve whether times, owner and all mode bits are kept; otherwise permission bits only
 * @param keepExisting whether files that are there already stay as they are
 * @param check whether each file is read back and compared before it gets its name
 * @param filesAtOnce how many files are copied at a time
 */
public record CopyOptions(boolean recursive, boolean preserve, boolean keepExisting, boolean check, int filesAtOnce) {

    private static final int MAX_FILES_AT_ONCE = 1024;

    /** Checks the bounds. */
    public CopyOptions {
        if (filesAtOnce < 1 || filesAtOnce > MAX_FILES_AT_ONCE) {
            throw new IllegalArgumentException(filesAtOnce + " files at once: expected 1 to " + MAX_FILES_AT_ONCE);
        }
    }
}
