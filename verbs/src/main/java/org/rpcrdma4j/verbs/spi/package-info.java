// SPDX-License-Identifier: Apache-2.0
/** What a provider of devices implements, and what it says of its abilities. */
package org.rpcrdma4j.verbs.spi;
