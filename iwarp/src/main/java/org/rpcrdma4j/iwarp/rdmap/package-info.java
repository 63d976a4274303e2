// SPDX-License-Identifier: Apache-2.0
/** RDMAP (RFC 5040): operation codes, the headers behind DDP's, and the Terminate message. Pure code. */
@NullMarked
package org.rpcrdma4j.iwarp.rdmap;

import org.jspecify.annotations.NullMarked;
