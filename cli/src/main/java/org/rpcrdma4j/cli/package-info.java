// SPDX-License-Identifier: Apache-2.0
/** The commands: what they are asked, what they print, and their exit status. */
@NullMarked
package org.rpcrdma4j.cli;

import org.jspecify.annotations.NullMarked;
