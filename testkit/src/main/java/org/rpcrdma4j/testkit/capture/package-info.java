// SPDX-License-Identifier: Apache-2.0
/** Records connections into capture files and lets Wireshark read them. */
@NullMarked
package org.rpcrdma4j.testkit.capture;

import org.jspecify.annotations.NullMarked;
