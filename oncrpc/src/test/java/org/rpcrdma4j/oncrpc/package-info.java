// SPDX-License-Identifier: Apache-2.0

/** The binding, beside stock oncrpc4j over TCP where that can be. */
@NullMarked
package org.rpcrdma4j.oncrpc;

import org.jspecify.annotations.NullMarked;
