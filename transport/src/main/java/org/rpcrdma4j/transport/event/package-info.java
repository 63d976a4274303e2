// SPDX-License-Identifier: Apache-2.0
/**
 * What can be seen from outside: counters that are always on, flight recorder events that are off and cost nothing then, and a listener
 * for the headers on the wire.
 */
package org.rpcrdma4j.transport.event;
