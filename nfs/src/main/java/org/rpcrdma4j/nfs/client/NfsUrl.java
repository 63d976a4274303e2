// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.Nfs3;

/**
 * Where a file is: {@code nfs://HOST[:PORT]/EXPORT/PATH[?proto=rdma|tcp][&mountport=N][&fh=HEX]} (in the manner of RFC 2224).
 *
 * <p>Bytes are written {@code %HH}; other characters stand for their bytes in UTF-8. Where the export ends and the path in it begins is
 * for the server to say.
 *
 * @param host name or address; an IPv6 address without brackets
 * @param port 0 if none is given: 20049 over RDMA, 2049 over TCP
 * @param path export and path
 * @param transport null if none is given
 * @param mountPort where MOUNT is served over TCP; 0 if that is to be found out
 * @param handle the handle of the export's root, so that no MOUNT is needed; null if none is given. The path then is all below it
 */
public record NfsUrl(
        String host,
        int port,
        NfsPath path,
        @Nullable Transport transport,
        int mountPort,
        @Nullable FileHandle handle) {

    private static final String SCHEME = "nfs://";

    /** What carries the calls. */
    public enum Transport {
        /** RPC-over-RDMA. */
        RDMA("rdma"),
        /** TCP. */
        TCP("tcp");

        private final String text;

        Transport(String text) {
            this.text = text;
        }
    }

    /** Checks the host and the ports. */
    public NfsUrl {
        if (host.isEmpty()) {
            throw new IllegalArgumentException("a URL needs a host, as in nfs://HOST/EXPORT/PATH");
        }
        checkPort(port);
        checkPort(mountPort);
    }

    /** The path at the host, with nothing else said. */
    public static NfsUrl of(String host, int port, NfsPath path) {
        return new NfsUrl(host, port, path, null, 0, null);
    }

    /** Whether the text is meant to be such a URL, good or not. */
    public static boolean isUrl(String text) {
        return text.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
    }

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException if it is none; the message is one line for people
     */
    public static NfsUrl parse(String text) {
        if (!isUrl(text)) {
            throw new IllegalArgumentException("not an nfs:// URL: " + text);
        }
        String rest = text.substring(SCHEME.length());
        int question = rest.indexOf('?');
        String query = question < 0 ? "" : rest.substring(question + 1);
        String place = question < 0 ? rest : rest.substring(0, question);
        int slash = place.indexOf('/');
        String authority = slash < 0 ? place : place.substring(0, slash);
        int colon = authority.startsWith("[") ? authority.indexOf(':', authority.indexOf(']')) : authority.indexOf(':');
        String host = colon < 0 ? authority : authority.substring(0, colon);
        if (host.startsWith("[")) {
            if (!host.endsWith("]")) {
                throw new IllegalArgumentException("an IPv6 address without its closing bracket: " + text);
            }
            host = host.substring(1, host.length() - 1);
        }
        NfsUrl url = of(
                host,
                colon < 0 ? 0 : number(authority.substring(colon + 1), text),
                NfsPath.parse(decode(slash < 0 ? "" : place.substring(slash), text)));
        for (String parameter : query.isEmpty() ? new String[0] : query.split("&", -1)) {
            url = url.with(parameter, text);
        }
        return url;
    }

    private NfsUrl with(String parameter, String text) {
        int equals = parameter.indexOf('=');
        String value = equals < 0 ? "" : parameter.substring(equals + 1);
        return switch (equals < 0 ? parameter : parameter.substring(0, equals)) {
            case "mountport" -> new NfsUrl(host, port, path, transport, number(value, text), handle);
            case "fh" -> new NfsUrl(host, port, path, transport, mountPort, FileHandle.parse(value));
            case "proto" -> new NfsUrl(host, port, path, transport(value, text), mountPort, handle);
            default -> throw new IllegalArgumentException("unknown parameter \"" + parameter + "\" in " + text);
        };
    }

    private static Transport transport(String value, String text) {
        for (Transport transport : Transport.values()) {
            if (transport.text.equals(value)) {
                return transport;
            }
        }
        throw new IllegalArgumentException("proto is rdma or tcp, not \"" + value + "\", in " + text);
    }

    private static int number(String digits, String text) {
        try {
            return Integer.parseUnsignedInt(digits);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("not a port: \"" + digits + "\" in " + text, e);
        }
    }

    private static void checkPort(int port) {
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("not a port: " + Integer.toUnsignedString(port));
        }
    }

    private static byte[] decode(String encoded, String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int i = 0;
        while (i < encoded.length()) {
            int character = encoded.codePointAt(i);
            if (character == '%') {
                if (i + 3 > encoded.length() || hex(encoded, i + 1) < 0 || hex(encoded, i + 2) < 0) {
                    throw new IllegalArgumentException("a % that no two hexadecimal digits follow in " + text);
                }
                bytes.write(hex(encoded, i + 1) << 4 | hex(encoded, i + 2));
                i += 3;
            } else {
                bytes.writeBytes(Character.toString(character).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(character);
            }
        }
        return bytes.toByteArray();
    }

    private static int hex(String text, int at) {
        return Character.digit(text.charAt(at), 16);
    }

    /** The port to use over that transport. */
    public int portFor(Transport used) {
        return port != 0 ? port : used == Transport.TCP ? Nfs3.TCP_PORT : Nfs3.RDMA_PORT;
    }

    /** Host and port as in the URL, so the port only if it is given. */
    public String authority() {
        String name = host.indexOf(':') < 0 ? host : "[" + host + "]";
        return port == 0 ? name : name + ":" + port;
    }

    /** The same place with another path. */
    public NfsUrl withPath(NfsPath newPath) {
        return new NfsUrl(host, port, newPath, transport, mountPort, handle);
    }

    /** For people: without parameters, with the path's printable characters as they are. */
    public String display() {
        return SCHEME + authority() + path;
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(SCHEME).append(authority()).append(path.toUrlPath());
        char before = '?';
        Transport used = transport;
        if (used != null) {
            text.append(before).append("proto=").append(used.text);
            before = '&';
        }
        if (mountPort != 0) {
            text.append(before).append("mountport=").append(mountPort);
            before = '&';
        }
        if (handle != null) {
            text.append(before).append("fh=").append(handle);
        }
        return text.toString();
    }
}
