// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * Limits and abilities of a device. A program asks here before it relies on anything that is not in every device.
 *
 * @param maxQueuePairs most queue pairs at a time
 * @param maxWorkRequests most outstanding work requests of one send or receive queue
 * @param maxSges most scatter/gather entries of a Send, an RDMA Write or a Receive
 * @param maxReadSges most scatter entries of an RDMA Read; 1 on iWARP
 * @param maxCompletions largest capacity of a completion queue
 * @param maxRegions most memory regions of both kinds
 * @param memoryManagementExtensions whether fast registration, local invalidation and Send with Invalidate are there
 * @param maxFastRegistrationPages longest page list of one {@link FastRegion}; 0 without fast registration
 * @param pageBytes size of the pages counted in that list
 * @param gapsAllowed whether the pieces of a fast registration may begin and end anywhere; if not, the hole rule of {@link
 *     FastRegion#map} holds
 * @param remoteAddressIsFree whether {@link FastRegion#map} honours the remote address asked for; if not the device
 *     chooses, as libibverbs' memory windows do
 * @param maxInboundReads most RDMA Reads of the peer served at a time (IRD)
 * @param maxOutboundReads most RDMA Reads of ours outstanding at a time (ORD)
 * @param readSinkNeedsRemoteWrite whether the sink of an RDMA Read must be registered with remote write too, as on iWARP
 *     cards
 * @param maxMessageBytes longest message of a work request
 * @param maxPrivateDataBytes most private data that can be sent with a connect, accept or reject
 */
public record DeviceAttributes(
        int maxQueuePairs,
        int maxWorkRequests,
        int maxSges,
        int maxReadSges,
        int maxCompletions,
        int maxRegions,
        boolean memoryManagementExtensions,
        int maxFastRegistrationPages,
        int pageBytes,
        boolean gapsAllowed,
        boolean remoteAddressIsFree,
        int maxInboundReads,
        int maxOutboundReads,
        boolean readSinkNeedsRemoteWrite,
        long maxMessageBytes,
        int maxPrivateDataBytes) {}
