// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.rpcrdma4j.nfs.local.LocalPaths;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Status;

/** The names that clients send, checked, as the local file system's. */
final class Names {

    /** What Linux file systems allow (NAME_MAX). */
    static final int MAX_BYTES = 255;

    /** The longest path, with a zero byte at its end, that system calls take (PATH_MAX). */
    static final int MAX_PATH_BYTES = 4096;

    static final FileName DOT = FileName.of(".");
    static final FileName DOT_DOT = FileName.of("..");

    private Names() {}

    /** RFC 1813, Section 3.2: checks a name that a client sent, which may be {@code .} or {@code ..}. */
    static void check(FileName name) throws Refusal {
        if (name.length() == 0) {
            throw new Refusal(Status.INVAL);
        }
        if (name.length() > MAX_BYTES) {
            throw new Refusal(Status.NAMETOOLONG);
        }
        if (!name.isDots() && !name.isPlain()) {
            throw new Refusal(Status.INVAL);
        }
    }

    /** The relative path of one name, which was checked. */
    static Path toPath(FileName name) {
        return LocalPaths.toPath(name);
    }

    /** The last name of a path. */
    static FileName nameOf(Path path) {
        return LocalPaths.nameOf(path);
    }

    /** What a path says. */
    static PathBytes toBytes(Path target) {
        return LocalPaths.toBytes(target);
    }

    /** The path for a symbolic link to say what a client sent. */
    static Path toTarget(PathBytes target) throws Refusal {
        if (target.length() >= MAX_PATH_BYTES) {
            throw new Refusal(Status.NAMETOOLONG);
        }
        try {
            return LocalPaths.toTarget(target);
        } catch (InvalidPathException e) {
            throw new Refusal(Status.INVAL);
        }
    }
}
