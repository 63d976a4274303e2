// SPDX-License-Identifier: Apache-2.0
/** Our own traffic, recorded and read by Wireshark. */
@NullMarked
package org.rpcrdma4j.iwarp.dissect;

import org.jspecify.annotations.NullMarked;
