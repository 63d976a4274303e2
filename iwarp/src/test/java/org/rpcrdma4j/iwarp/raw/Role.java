// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

/** Which side the device takes in the set-up. */
enum Role {
    INITIATOR,
    RESPONDER
}
