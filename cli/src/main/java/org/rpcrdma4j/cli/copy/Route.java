// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

/**
 * Where a copy leads.
 *
 * @param from what is read
 * @param to what is written
 */
public record Route(Side from, Side to) {}
