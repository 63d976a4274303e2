// SPDX-License-Identifier: Apache-2.0
/** Registered memory: the STag table, regions, and the check of every access (RFC 5041, Section 7.1; RFC 5040, Section 7.2). */
@NullMarked
package org.rpcrdma4j.iwarp.mem;

import org.jspecify.annotations.NullMarked;
