// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.jspecify.annotations.Nullable;

/** The authentication flavours with a meaning here. The number space is open (RFC 5531, Section 8.2), so headers carry the number. */
public enum AuthFlavor {
    /** No identity. */
    AUTH_NONE(0),
    /** User and groups as the client says them. */
    AUTH_SYS(1),
    /** Short hand for a credential seen before. */
    AUTH_SHORT(2),
    /** Diffie-Hellman; broken. */
    AUTH_DH(3),
    /** GSS-API (RFC 2203). */
    RPCSEC_GSS(6),
    /** Asks for TLS (RFC 9289). */
    AUTH_TLS(7);

    private final int value;

    AuthFlavor(int value) {
        this.value = value;
    }

    /** The value on the wire. */
    public int value() {
        return value;
    }

    /** The flavour with this number; null for others. */
    public static @Nullable AuthFlavor of(int value) {
        for (AuthFlavor flavor : values()) {
            if (flavor.value == value) {
                return flavor;
            }
        }
        return null;
    }
}
