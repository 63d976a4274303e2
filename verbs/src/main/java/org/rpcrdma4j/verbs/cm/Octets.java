// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

import java.util.Arrays;
import java.util.HexFormat;

/** An immutable row of bytes: private data, or a piece of a header. Equal if the bytes are. */
public final class Octets {

    /** No bytes. */
    public static final Octets EMPTY = new Octets(new byte[0]);

    private final byte[] bytes;

    private Octets(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Holds a copy of the given bytes. */
    public static Octets of(byte... bytes) {
        return bytes.length == 0 ? EMPTY : new Octets(bytes.clone());
    }

    /** Number of bytes. */
    public int length() {
        return bytes.length;
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return bytes.length == 0;
    }

    /** A copy of the bytes. */
    public byte[] toByteArray() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Octets octets && Arrays.equals(bytes, octets.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** The bytes in hexadecimal. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
