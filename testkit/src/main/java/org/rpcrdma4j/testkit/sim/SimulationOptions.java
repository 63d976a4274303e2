// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.Objects;
import org.rpcrdma4j.verbs.DeviceAttributes;

/**
 * How a simulated device behaves.
 *
 * @param attributes its limits and abilities, all of them enforced
 * @param mergesAdjacentPieces whether pieces of a fast registration that touch each other take one entry of the page list
 * @param watchesMemory whether it looks for changes of memory that belongs to an outstanding Send or RDMA Write
 * @param faults what goes wrong
 */
public record SimulationOptions(
        DeviceAttributes attributes, boolean mergesAdjacentPieces, boolean watchesMemory, FaultPlan faults) {

    /** As the software iWARP device, with everything watched and no faults. */
    public static final SimulationOptions DEFAULT = new SimulationOptions(
            new DeviceAttributes(
                    1024, 4096, 16, 1, 65_536, 8192, true, 257, 4096, true, true, 64, 64, false, 0xFFFF_FFFFL, 508),
            false,
            true,
            FaultPlan.none());

    public SimulationOptions {
        Objects.requireNonNull(attributes, "attributes");
        Objects.requireNonNull(faults, "faults");
    }

    /** The same with other limits and abilities. */
    public SimulationOptions withAttributes(DeviceAttributes value) {
        return new SimulationOptions(value, mergesAdjacentPieces, watchesMemory, faults);
    }

    /** The same with or without merging. */
    public SimulationOptions withMergedPieces(boolean value) {
        return new SimulationOptions(attributes, value, watchesMemory, faults);
    }

    /** The same with or without a watch over memory. */
    public SimulationOptions withWatchedMemory(boolean value) {
        return new SimulationOptions(attributes, mergesAdjacentPieces, value, faults);
    }

    /** The same with other faults. */
    public SimulationOptions withFaults(FaultPlan value) {
        return new SimulationOptions(attributes, mergesAdjacentPieces, watchesMemory, value);
    }

    /** The same with other rules for fast registrations. */
    public SimulationOptions withFastRegistration(int maxPages, boolean gapsAllowed, boolean remoteAddressIsFree) {
        DeviceAttributes a = attributes;
        return withAttributes(new DeviceAttributes(
                a.maxQueuePairs(),
                a.maxWorkRequests(),
                a.maxSges(),
                a.maxReadSges(),
                a.maxCompletions(),
                a.maxRegions(),
                maxPages > 0,
                maxPages,
                a.pageBytes(),
                gapsAllowed,
                remoteAddressIsFree,
                a.maxInboundReads(),
                a.maxOutboundReads(),
                a.readSinkNeedsRemoteWrite(),
                a.maxMessageBytes(),
                a.maxPrivateDataBytes()));
    }

    /** The same with other limits of entries, depths and regions. */
    public SimulationOptions withLimits(int maxSges, int maxReadSges, int maxWorkRequests, int maxRegions) {
        DeviceAttributes a = attributes;
        return withAttributes(new DeviceAttributes(
                a.maxQueuePairs(),
                maxWorkRequests,
                maxSges,
                maxReadSges,
                a.maxCompletions(),
                maxRegions,
                a.memoryManagementExtensions(),
                a.maxFastRegistrationPages(),
                a.pageBytes(),
                a.gapsAllowed(),
                a.remoteAddressIsFree(),
                a.maxInboundReads(),
                a.maxOutboundReads(),
                a.readSinkNeedsRemoteWrite(),
                a.maxMessageBytes(),
                a.maxPrivateDataBytes()));
    }

    /** The same with other RDMA Read abilities. */
    public SimulationOptions withReads(int maxInbound, int maxOutbound, boolean sinkNeedsRemoteWrite) {
        DeviceAttributes a = attributes;
        return withAttributes(new DeviceAttributes(
                a.maxQueuePairs(),
                a.maxWorkRequests(),
                a.maxSges(),
                a.maxReadSges(),
                a.maxCompletions(),
                a.maxRegions(),
                a.memoryManagementExtensions(),
                a.maxFastRegistrationPages(),
                a.pageBytes(),
                a.gapsAllowed(),
                a.remoteAddressIsFree(),
                maxInbound,
                maxOutbound,
                sinkNeedsRemoteWrite,
                a.maxMessageBytes(),
                a.maxPrivateDataBytes()));
    }
}
