// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.jspecify.annotations.Nullable;

/** Something was not copied. Its message is one line for people. */
public final class CopyException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** The whole message. */
    public CopyException(String message) {
        super(message);
    }

    private CopyException(String message, Exception cause) {
        super(message, cause);
    }

    /**
     * What the local file system refused, in the form that the volume's failures have.
     *
     * @param action what was tried, as a verb
     * @param subject on what, as {@link Side#display} calls it
     */
    static CopyException of(String action, String subject, Exception cause) {
        return new CopyException("cannot " + action + " " + subject + ": " + reason(cause), cause);
    }

    /** The same failure of a file's temporary name, told of its own name. */
    static IOException renamed(IOException e, String temporary, String name) {
        String message = e.getMessage();
        return message != null && message.contains(temporary)
                ? new CopyException(message.replace(temporary, name), e)
                : e;
    }

    private static String reason(Exception e) {
        return switch (e) {
            case NoSuchFileException _ -> "no such file or directory";
            case AccessDeniedException _ -> "permission denied";
            case FileAlreadyExistsException _ -> "file exists";
            case NotDirectoryException _ -> "not a directory";
            case DirectoryNotEmptyException _ -> "directory not empty";
            case FileSystemException f when f.getReason() != null -> lowerCase(f.getReason());
            default -> lowerCase(e.getMessage() == null ? e.toString() : e.getMessage());
        };
    }

    /** The system's texts begin with a capital. */
    private static String lowerCase(@Nullable String text) {
        return text == null || text.length() < 2 || !Character.isLowerCase(text.charAt(1))
                ? String.valueOf(text)
                : Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }
}
