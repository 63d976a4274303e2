// SPDX-License-Identifier: Apache-2.0
/**
 * MPA (RFC 5044, RFC 6581): the start-up exchange that turns a TCP connection into an iWARP one, and the FPDUs that
 * frame everything behind it. Pure code: bytes come in and go out as buffers; there is no socket, clock or thread.
 *
 * <p>Markers are not made and not asked for. A peer that insists on them is refused.
 */
@NullMarked
package org.rpcrdma4j.iwarp.mpa;

import org.jspecify.annotations.NullMarked;
