// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rpcrdma4j.bridge.BridgeEnd;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** An end of a bridge as it is written on the command line: tcp:HOST:PORT or rdma:HOST:PORT. */
record BridgeAddress(BridgeEnd.Kind kind, String host, int port) {
    private static final Pattern FORM =
            Pattern.compile("(tcp|rdma):(?:\\[([0-9A-Fa-f:.%\\w]+)]|([^\\[\\]:]+)):(\\d{1,5})");

    /** Reads it from the command line. */
    static final class Converter implements ITypeConverter<BridgeAddress> {
        Converter() {}

        @Override
        public BridgeAddress convert(String text) {
            Matcher found = FORM.matcher(text);
            if (found.matches()) {
                BridgeEnd.Kind kind = BridgeEnd.Kind.valueOf(found.group(1).toUpperCase(Locale.ROOT));
                String host = found.group(2) != null ? found.group(2) : found.group(3);
                int port = Integer.parseInt(found.group(4));
                if (port <= 0xFFFF) {
                    return new BridgeAddress(kind, host, port);
                }
            }
            throw new TypeConversionException("'" + text + "': expected tcp:HOST:PORT or rdma:HOST:PORT");
        }
    }

    /** Looks the name up. */
    BridgeEnd resolve() throws UnknownHostException {
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new UnknownHostException("unknown host " + host);
        }
        return new BridgeEnd(kind, address);
    }

    @Override
    public String toString() {
        return kind.name().toLowerCase(Locale.ROOT)
                + ':'
                + (host.indexOf(':') < 0 ? host : '[' + host + ']')
                + ':'
                + port;
    }
}
