// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.rpcbind;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/** Universal addresses (RFC 5665, Section 5.2.3): the address as it is written usually, then the two bytes of the port, with dots between. */
public final class UniversalAddress {

    private static final int BYTE = 0xff;

    private UniversalAddress() {}

    /**
     * Writes an address.
     *
     * @throws IllegalArgumentException if it is not resolved
     */
    public static String format(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new IllegalArgumentException(address + " is not resolved");
        }
        String text = host.getHostAddress();
        // RFC 5665, Section 5.2.3.4: without a scope.
        int scope = text.indexOf('%');
        int port = address.getPort();
        return (scope < 0 ? text : text.substring(0, scope)) + '.' + (port >>> 8) + '.' + (port & BYTE);
    }

    /** Reads an address; empty if it is none. Looks up no name. */
    public static Optional<InetSocketAddress> parse(String text) {
        int low = text.lastIndexOf('.');
        int high = low < 0 ? -1 : text.lastIndexOf('.', low - 1);
        if (high <= 0) {
            return Optional.empty();
        }
        try {
            int highByte = Integer.parseInt(text.substring(high + 1, low));
            int lowByte = Integer.parseInt(text.substring(low + 1));
            if ((highByte | lowByte) >>> 8 != 0) {
                return Optional.empty();
            }
            String hostText = text.substring(0, high);
            boolean isShort = hostText.indexOf(':') < 0
                    && hostText.chars().filter(c -> c == '.').count() != 3;
            if (isShort) {
                // Java would fill the missing bytes of an IPv4 address with zeros.
                return Optional.empty();
            }
            InetAddress host = InetAddress.ofLiteral(hostText);
            return Optional.of(new InetSocketAddress(host, highByte << 8 | lowByte));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
