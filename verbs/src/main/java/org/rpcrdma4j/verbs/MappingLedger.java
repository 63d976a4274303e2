// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * The device's account of leased memory. A lease is taken by {@link ProtectionDomain#register} and {@link FastRegion#map} and
 * given back by {@link MemoryRegion#close} and {@link FastRegion#unmap}.
 *
 * @param maps leases taken so far, one for each piece of memory
 * @param unmaps leases given back so far; never above {@code maps}
 * @param mappedBytes bytes under lease now
 * @param regions regions that exist now, mapped or not
 */
public record MappingLedger(long maps, long unmaps, long mappedBytes, long regions) {

    /** Whether nothing is leased and no region exists. */
    public boolean isBalanced() {
        return maps == unmaps && mappedBytes == 0 && regions == 0;
    }
}
