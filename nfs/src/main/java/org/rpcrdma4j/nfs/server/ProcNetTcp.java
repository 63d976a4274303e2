// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * The sockets of this machine as Linux lists them in {@code /proc/net/tcp} and {@code /proc/net/tcp6}. Of each connection within the machine both
 * ends are there, each with its user.
 *
 * <p>The line of a socket that no process has, for it waits to be accepted or was closed, names user 0 whoever made it; its inode is 0.
 */
final class ProcNetTcp implements SocketOwners {

    /** A table is not read further. */
    private static final int MAX_LINES = 1 << 20;

    private static final String ESTABLISHED = "01";
    private static final int IPV4_BYTES = 4;

    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int STATE = 3;
    private static final int USER = 7;
    private static final int INODE = 9;

    private final List<Path> tables;

    private ProcNetTcp(List<Path> tables) {
        this.tables = tables;
    }

    /** Those of this process's network namespace. */
    static ProcNetTcp ofThisMachine() {
        return new ProcNetTcp(List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6")));
    }

    /** Those that these files list. */
    static ProcNetTcp of(Path... tables) {
        return new ProcNetTcp(List.of(tables));
    }

    @Override
    public OptionalInt userOf(InetSocketAddress local, InetSocketAddress remote) throws IOException {
        IOException failure = null;
        OptionalInt user = OptionalInt.empty();
        boolean wasRead = false;
        for (Path table : tables) {
            try (BufferedReader in = Files.newBufferedReader(table, StandardCharsets.ISO_8859_1);
                    Stream<String> lines = in.lines()) {
                OptionalInt found = userOf(lines.limit(MAX_LINES).iterator(), local, remote, ByteOrder.nativeOrder());
                wasRead = true;
                user = leastTrusted(user, found);
            } catch (UncheckedIOException e) {
                throw new IOException(table + " cannot be read", e);
            } catch (NoSuchFileException e) {
                // A machine without IPv6 has one of them.
                failure = e;
            }
        }
        if (!wasRead && failure != null) {
            throw failure;
        }
        return user;
    }

    /**
     * The user of a socket in a table's lines; if there are more than one, as may be when the table changes while it is read, one who is not root.
     * Lines that make no sense are passed over.
     *
     * @param order of bytes in memory where the table was made
     */
    static OptionalInt userOf(
            Iterator<String> lines, InetSocketAddress local, InetSocketAddress remote, ByteOrder order) {
        List<String> here = forms(local, order);
        List<String> there = forms(remote, order);
        OptionalInt user = OptionalInt.empty();
        while (lines.hasNext()) {
            String[] fields = lines.next().trim().split("\\s+", -1);
            if (fields.length > INODE
                    && here.contains(fields[LOCAL])
                    && there.contains(fields[REMOTE])
                    && fields[STATE].equals(ESTABLISHED)) {
                user = leastTrusted(user, user(fields[USER], fields[INODE]));
            }
        }
        return user;
    }

    private static OptionalInt user(String user, String inode) {
        try {
            if (Long.parseUnsignedLong(inode) != 0) {
                return OptionalInt.of(Integer.parseUnsignedInt(user));
            }
        } catch (NumberFormatException _) {
            // As if the line were not there.
        }
        return OptionalInt.empty();
    }

    private static OptionalInt leastTrusted(OptionalInt one, OptionalInt other) {
        boolean isOtherLess = one.isEmpty() || (one.getAsInt() == 0 && other.isPresent());
        return isOtherLess ? other : one;
    }

    /** How the address may be written: as itself; and a socket for IPv6 may have an IPv4 address, mapped (RFC 4291, Section 2.5.5.2). */
    private static List<String> forms(InetSocketAddress address, ByteOrder order) {
        InetAddress host = address.getAddress();
        if (host == null) {
            return List.of();
        }
        byte[] bytes = host.getAddress();
        String port = String.format(Locale.ROOT, ":%04X", address.getPort());
        if (bytes.length != IPV4_BYTES) {
            return List.of(words(bytes, order) + port);
        }
        byte[] mapped =
                ByteBuffer.allocate(16).putLong(0).putInt(0xffff).put(bytes).array();
        return List.of(words(bytes, order) + port, words(mapped, order) + port);
    }

    /** Words as the machine would read them from memory, in hexadecimal. */
    private static String words(byte[] bytes, ByteOrder order) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(order);
        StringBuilder text = new StringBuilder();
        while (buffer.hasRemaining()) {
            text.append(String.format(Locale.ROOT, "%08X", buffer.getInt()));
        }
        return text.toString();
    }
}
