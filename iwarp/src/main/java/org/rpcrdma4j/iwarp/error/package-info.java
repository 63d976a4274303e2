// SPDX-License-Identifier: Apache-2.0
/**
 * What a peer can do wrong on an iWARP connection, and the number that tells it so.
 *
 * <p>Every check of the layers above throws one sealed exception, {@link
 * org.rpcrdma4j.iwarp.error.IwarpException}; each carries the {@link org.rpcrdma4j.iwarp.error.TerminateError}
 * that belongs to it. It is caught in exactly one place per connection.
 */
@NullMarked
package org.rpcrdma4j.iwarp.error;

import org.jspecify.annotations.NullMarked;
