// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

/** Stands where code is still to come. */
final class NotYet {

    private NotYet() {}

    @SuppressWarnings("TypeParameterUnusedInFormals") // never returns
    static <T> T value() {
        if (Runtime.version().feature() > 0) {
            throw new UnsupportedOperationException("not yet");
        }
        throw new AssertionError();
    }
}
