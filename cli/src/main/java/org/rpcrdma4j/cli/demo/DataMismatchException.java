// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.io.Serial;

/** A file has other bytes than were written. */
public final class DataMismatchException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    private DataMismatchException(String message) {
        super(message);
    }

    /** A byte differs. */
    static DataMismatchException of(String file, long offset, byte expected, byte found, String where) {
        return new DataMismatchException("the data differ: %s at offset %d: expected 0x%02x, found 0x%02x, %s"
                .formatted(file, offset, expected, found, where));
    }

    /** A file is longer or shorter than it should be. */
    static DataMismatchException length(String file, long expected, long found, String where) {
        return new DataMismatchException(
                "the data differ: %s: expected %d bytes, found %d, %s".formatted(file, expected, found, where));
    }
}
