// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A server as it is written on the command line: HOST, HOST:PORT, [IPV6], [IPV6]:PORT. */
record HostPort(String host, int port) {
    private static final Pattern FORM = Pattern.compile("(?:\\[([0-9A-Fa-f:.%\\w]+)]|([^\\[\\]:]+))(?::(\\d{1,5}))?");

    private static final int NFS_PORT = 20049;

    private static HostPort parse(String text, int leastPort) {
        Matcher found = FORM.matcher(text);
        if (found.matches()) {
            String host = found.group(1) != null ? found.group(1) : found.group(2);
            int port = found.group(3) == null ? NFS_PORT : Integer.parseInt(found.group(3));
            if (port >= leastPort && port <= 0xFFFF) {
                return new HostPort(host, port);
            }
        }
        throw new TypeConversionException(
                "'" + text + "': expected HOST or HOST:PORT, the port in " + leastPort + "..65535");
    }

    /** Reads a server's address from the command line; port 20049, that of NFS over RDMA, unless named. */
    static final class Converter implements ITypeConverter<HostPort> {
        Converter() {}

        @Override
        public HostPort convert(String text) {
            return parse(text, 1);
        }
    }

    /** Reads an address to listen on: as {@link Converter}, and port 0 for any that is free. */
    static final class ListenConverter implements ITypeConverter<HostPort> {
        ListenConverter() {}

        @Override
        public HostPort convert(String text) {
            return parse(text, 0);
        }
    }

    /** As it would be written on the command line. */
    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }

    /** Looks the name up. */
    InetSocketAddress resolve() throws UnknownHostException {
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new UnknownHostException("unknown host " + host);
        }
        return address;
    }
}
