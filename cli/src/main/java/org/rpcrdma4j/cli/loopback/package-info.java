// SPDX-License-Identifier: Apache-2.0
/**
 * Two queue pairs of one process over loopback, and what is done with them: streams, round trips, registrations, each beside the same over a
 * plain socket. The demonstration and all benchmarks are made of these.
 */
@NullMarked
package org.rpcrdma4j.cli.loopback;

import org.jspecify.annotations.NullMarked;
