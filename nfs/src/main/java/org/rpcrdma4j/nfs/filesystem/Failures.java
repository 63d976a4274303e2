// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;

/** Puts what the server refuses into the exceptions of {@code java.nio.file}, with the path in them and the refusal as their cause. */
final class Failures {

    /** How the client's path walk says that it gave up; NFS version 3 has no status for it. */
    private static final String TOO_MANY_LINKS = "too many levels of symbolic links";

    private Failures() {}

    /** Something that is done to a path. */
    @FunctionalInterface
    interface Operation<T extends @Nullable Object> {
        T run() throws IOException;
    }

    /** Something that is done to a path and has no result. */
    @FunctionalInterface
    interface Action {
        void run() throws IOException;
    }

    static <T extends @Nullable Object> T about(Path path, Operation<T> operation) throws IOException {
        try {
            return operation.run();
        } catch (NfsException e) {
            throw translate(e, path, null);
        }
    }

    static void doing(Path path, Action action) throws IOException {
        doing(path, null, action);
    }

    static void doing(Path path, @Nullable Path other, Action action) throws IOException {
        try {
            action.run();
        } catch (NfsException e) {
            throw translate(e, path, other);
        }
    }

    static FileSystemException translate(NfsException e, Path path, @Nullable Path other) {
        String file = path.toString();
        String second = other == null ? null : other.toString();
        FileSystemException translated = switch (e.status()) {
            case NOENT -> new NoSuchFileException(file, second, null);
            case ACCES, PERM -> new AccessDeniedException(file, second, reason(e));
            // What is there already is the new name, which stands second.
            case EXIST -> new FileAlreadyExistsException(second == null ? file : second);
            case NOTEMPTY -> new DirectoryNotEmptyException(second == null ? file : second);
            case NOTDIR -> new NotDirectoryException(file);
            default ->
                reason(e).equals(TOO_MANY_LINKS)
                        ? new FileSystemLoopException(file)
                        : new FileSystemException(file, second, reason(e));
        };
        translated.initCause(e);
        return translated;
    }

    private static String reason(NfsException e) {
        String before = "cannot " + e.action() + " " + e.subject() + ": ";
        String message = String.valueOf(e.getMessage());
        return message.startsWith(before) ? message.substring(before.length()) : message;
    }

    static boolean is(NfsException e, Status status) {
        return e.status() == status;
    }
}
