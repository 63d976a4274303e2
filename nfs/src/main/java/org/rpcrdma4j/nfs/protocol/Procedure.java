// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

/** The procedures of NFS version 3 (RFC 1813, Section 3.3); they are declared in the order of their numbers, from 0. */
public enum Procedure {
    /** Does nothing. */
    NULL(0),
    /** Get file attributes. */
    GETATTR(1),
    /** Set file attributes. */
    SETATTR(2),
    /** Look up a name. */
    LOOKUP(3),
    /** Check access permission. */
    ACCESS(4),
    /** Read a symbolic link. */
    READLINK(5),
    /** Read from a file. */
    READ(6),
    /** Write to a file. */
    WRITE(7),
    /** Create a file. */
    CREATE(8),
    /** Create a directory. */
    MKDIR(9),
    /** Create a symbolic link. */
    SYMLINK(10),
    /** Create a special device. */
    MKNOD(11),
    /** Remove a file. */
    REMOVE(12),
    /** Remove a directory. */
    RMDIR(13),
    /** Rename a file or directory. */
    RENAME(14),
    /** Create a hard link. */
    LINK(15),
    /** Read a directory. */
    READDIR(16),
    /** Read a directory with attributes and handles. */
    READDIRPLUS(17),
    /** Get dynamic file system information. */
    FSSTAT(18),
    /** Get static file system information. */
    FSINFO(19),
    /** Get POSIX information. */
    PATHCONF(20),
    /** Commit written data to stable storage. */
    COMMIT(21);

    private final int number;

    Procedure(int number) {
        this.number = number;
    }

    /** Its number. */
    public int number() {
        return number;
    }
}
