// SPDX-License-Identifier: Apache-2.0
/** The queues of a queue pair and the completion queues: who has posted what, and what became of it. Pure code. */
@NullMarked
package org.rpcrdma4j.iwarp.queue;

import org.jspecify.annotations.NullMarked;
