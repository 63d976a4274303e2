// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.PathBytes;

/**
 * Writes names: for programs as the bytes that they are, for people with everything that a terminal could take for something else escaped. Used
 * by one thread.
 */
public final class NameOutput {
    private final OutputStream out;
    private final boolean escaped;

    /** Writes to a stream that stays the caller's. */
    public NameOutput(OutputStream out, boolean escaped) {
        this.out = out;
        this.escaped = escaped;
    }

    /** A name. */
    public NameOutput name(FileName name) throws IOException {
        return escaped ? text(name.toString()) : bytes(name.bytes());
    }

    /** What a symbolic link says. */
    public NameOutput target(PathBytes target) throws IOException {
        return escaped ? text(target.toString()) : bytes(target.bytes());
    }

    /** A path, a slash before each name; nothing for the root. */
    public NameOutput path(NfsPath path) throws IOException {
        for (FileName name : path.names()) {
            text("/").name(name);
        }
        return this;
    }

    /** Text of our own. */
    public NameOutput text(String text) throws IOException {
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    private NameOutput bytes(byte[] bytes) throws IOException {
        out.write(bytes);
        return this;
    }
}
