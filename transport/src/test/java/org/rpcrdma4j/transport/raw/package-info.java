// SPDX-License-Identifier: Apache-2.0
/** Peers that build and read every byte themselves, over the verbs alone, and the two networks that tests run on. */
@NullMarked
package org.rpcrdma4j.transport.raw;

import org.jspecify.annotations.NullMarked;
